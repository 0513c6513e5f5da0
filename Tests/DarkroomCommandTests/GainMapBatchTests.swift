import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// A batch says how many of its photos lost a gain map.
@Suite(.timeLimit(.minutes(2))) struct GainMapBatchTests {
    private static let photo = TestFiles.fixtures.appendingPathComponent("Cases/b09-ultrahdr.jpg").path

    let scratch: ScratchFolder

    init() throws {
        scratch = try ScratchFolder()
        try scratch.makeFolder("run")
        try scratch.makeFolder("photos")
        for name in ["a.jpg", "b.jpg"] {
            try FileManager.default.copyItem(atPath: Self.photo, toPath: scratch.path("photos/\(name)"))
        }
        try scratch.write("photos/c.jpg", RunCommandTests.photo)
    }

    private func run(_ arguments: String...) throws -> Program.Outcome {
        try Program(
            ["run", scratch.path("photos")] + arguments, environment: ["XDG_RUNTIME_DIR": scratch.path("run")]
        ).outcome()
    }

    @Test(arguments: [[], ["--isolate"]]) func summarySaysHowManyLostTheirGainMaps(isolation: [String]) throws {
        let rendition = ["--rendition", "small=resize=40x", "--rendition", "same=none"]
        for options in [["--filter", "sepia"], rendition] {
            let out = scratch.path("out-\(options.count)")
            let arguments = ["run", scratch.path("photos"), "-o", out] + options + isolation
            let outcome = try Program(arguments, environment: ["XDG_RUNTIME_DIR": scratch.path("run")]).outcome()
            #expect(outcome.status == 0, "\(outcome)")
            let lines = outcome.lines.filter { $0.contains("gain map") }
            #expect(lines.count == 1 && lines.first?.hasPrefix("2 photos lost the gain map") == true, "\(outcome)")
        }
    }

    @Test func nothingIsSaidAboutKeptPhotos() throws {
        let outcome = try run("-o", scratch.path("out"), "--filter", "none")
        #expect(outcome.status == 0 && !outcome.standardOutput.contains("gain map"), "\(outcome)")
    }

    @Test func factsHaveTheNumber() throws {
        let outcome = try run("-o", scratch.path("out"), "--filter", "sepia", "--json")
        let facts = try #require(try outcome.json() as? [String: Any])
        #expect(facts["lostGainMaps"] as? Int == 2)
    }

    @Test func developSaysItToo() throws {
        let one = try Program.run("develop", scratch.path("photos/a.jpg"), scratch.path("a.jpg"), "--filter", "sepia")
        #expect(one.status == 0 && one.standardError.contains("1 photo lost the gain map"), "\(one)")
        let all = try Program.run("develop", scratch.path("photos"), "-o", scratch.path("all"), "--filter", "sepia")
        #expect(all.status == 0 && all.standardError.contains("2 photos lost the gain map"), "\(all)")
    }
}
