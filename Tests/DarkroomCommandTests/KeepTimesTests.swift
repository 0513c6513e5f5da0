import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// `--keep-times`, from the server and the file system to the written files.
@Suite(.timeLimit(.minutes(2))) struct KeepTimesTests {
    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let time = Date(timeIntervalSince1970: 784_111_777)

    private func time(_ path: String) throws -> Date {
        try #require(FileManager.default.attributesOfItem(atPath: scratch.path(path))[.modificationDate] as? Date)
    }

    private func run(_ arguments: String...) throws -> Program.Outcome {
        try FileManager.default.createDirectory(atPath: scratch.path("run"), withIntermediateDirectories: true)
        return try Program(["run"] + arguments, environment: ["XDG_RUNTIME_DIR": scratch.path("run")]).outcome()
    }

    @Test func timeOfTheServerIsThatOfTheFiles() throws {
        let headers = ["Last-Modified: \(Self.modified)"]
        let photo = RunCommandTests.photo
        let server = try HostileServer([
            "/with.jpg": .answer(headers: headers, body: photo), "/without.jpg": .answer(body: photo),
            "/bad.jpg": .answer(headers: ["Last-Modified: yesterday"], body: photo),
            "/moved.jpg": .redirect(to: "/with.jpg"),
        ])
        defer { server.stop() }
        let began = Date()
        let list = try scratch.write(
            "list.txt", ["with", "without", "bad", "moved"].map { server.url("/\($0).jpg\n") }.joined())
        // The second run reads the bytes of the first from the folder of originals.
        for out in ["first", "second"] {
            let outcome = try run(
                list, "-o", scratch.path(out), "--allow-private", "--keep-times", "--originals", scratch.path("kept"),
                "--rendition", "small=resize=10x", "--rendition", "same=none")
            #expect(outcome.status == 0, "\(outcome)")
            for rendition in ["small", "same"] {
                for name in ["000000-with.jpg", "000003-moved.jpg"] {
                    #expect(try time("\(out)/\(rendition)/\(name)") == Self.time)
                }
                for name in ["000001-without.jpg", "000002-bad.jpg"] {
                    // Clocks of file systems are a tick behind.
                    #expect(try time("\(out)/\(rendition)/\(name)") > began - 1)
                }
            }
        }
        #expect(server.log.requests["/with.jpg"] == 2, "once by its own name, and once by the redirect")
        let plain = try run(list, "-o", scratch.path("plain"), "--allow-private")
        #expect(plain.status == 0)
        #expect(try time("plain/000000-with.jpg") > began - 1)
    }

    @Test func timeOfALocalFileIsThatOfItsFile() throws {
        try scratch.makeFolder("photos")
        let photo = try scratch.write("photos/a.jpg", RunCommandTests.photo)
        try FileManager.default.setAttributes([.modificationDate: Self.time], ofItemAtPath: photo)
        let outcome = try run(scratch.path("photos"), "-o", scratch.path("out"), "--keep-times")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try time("out/000000-a.jpg") == Self.time)

        for arguments in [[photo, scratch.path("b.jpg")], [scratch.path("photos"), "-o", scratch.path("c")]] {
            let developed = try Program(["develop", "--keep-times", "--filter", "sepia"] + arguments).outcome()
            #expect(developed.status == 0, "\(developed)")
        }
        #expect(try time("b.jpg") == Self.time && time("c/a.jpg") == Self.time)
        let replaced = try Program.run("develop", photo, scratch.path("b.jpg"), "--force")
        #expect(replaced.status == 0)
        #expect(try time("b.jpg") > Self.time)
    }
}
