import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// `develop`: one photo from file to file.
@Suite(.serialized) struct DevelopCommandTests {
    private static let samples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Samples").path
    private let folder = NSTemporaryDirectory() + "darkroom-develop-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    @Test(arguments: [
        ("out.png", [], "png"), ("out.jpeg", [], "jpeg"), ("out", [], "jpeg"),
        ("out.JPG", ["--format", "webp"], "webp"),
    ])
    func formatIsThatOfTheOptionTheEndingOrThePhoto(_ name: String, _ options: [String], _ format: String) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let out = "\(folder)/\(name)"
        let arguments = ["develop", "\(Self.samples)/astronaut.jpg", out, "--json"] + options
        let outcome = try Program(arguments).outcome()
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let facts = try #require(try outcome.json() as? [String: Any])
        #expect(facts["format"] as? String == format && facts["width"] as? Int == 512 && facts["height"] as? Int == 512)
        let written = try Data(contentsOf: URL(fileURLWithPath: out))
        #expect(facts["bytes"] as? Int == written.count)
        // Told from its bytes, developing it again reads what was named.
        let again = try Program.run("develop", out, "\(folder)/again", "--json")
        #expect((try again.json() as? [String: Any])?["format"] as? String == format)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["again", name].sorted())
    }

    @Test func photoGoesThroughPipes() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let outcome = try Program(
            ["develop", "-", "-"], input: "\(Self.samples)/astronaut.jpg", output: "\(folder)/piped.jpg"
        ).outcome()
        #expect(outcome.status == 0)
        #expect(try Program.run("develop", "\(Self.samples)/astronaut.jpg", "\(folder)/file.jpg").status == 0)
        #expect(
            FileManager.default.contents(atPath: "\(folder)/piped.jpg")
                == FileManager.default.contents(atPath: "\(folder)/file.jpg"))
    }

    @Test func whatCannotBeDoneSaysWhy() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let photo = "\(Self.samples)/astronaut.jpg"
        for (arguments, message) in [
            (["/no/photo.jpg", "\(folder)/o.jpg"], "read the photo /no/photo.jpg: No such file or directory"),
            ([Self.samples, "\(folder)/o.jpg"], "read the photo \(Self.samples): Is a directory"),
            (["/etc/passwd", "\(folder)/o.jpg"], "develop /etc/passwd: not an image: found text"),
            ([photo, "\(folder)/missing/o.jpg"], "write the photo \(folder)/missing/o.jpg: No such file or directory"),
            ([photo, folder], "write the photo \(folder): "),
            ([photo, "\(folder)/o.jpg", "--max-pixels", "1k"], "develop \(photo): too many pixels: "),
        ] {
            let outcome = try Program(["develop"] + arguments).outcome()
            #expect(outcome.status == 1 && outcome.standardOutput.isEmpty)
            #expect(outcome.standardError.hasPrefix("error: \(message)"), "\(outcome.standardError)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }
}
