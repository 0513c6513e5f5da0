import DarkroomTestSupport
import Foundation
import Testing

/// A folder `.darkroom` that another user has put into an output folder.
@Suite(.timeLimit(.minutes(5))) struct RunFolderTests {
    let scratch: ScratchFolder
    let list: String

    init() throws {
        scratch = try ScratchFolder()
        let photo = try scratch.write("a.jpg", RunCommandTests.photo)
        list = try scratch.write("list.txt", "file://\(photo)\n")
        for name in ["out", "victim", "run"] { try make(name) }
        _ = try scratch.write("victim/file", "precious")
    }

    private func make(_ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: scratch.path(name), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    private func link(_ name: String, to target: String) {
        #expect(symlink(scratch.path(target), scratch.path(name)) == 0)
    }

    private func run(_ more: String...) throws -> Program.Outcome {
        try Program(
            ["run", list, "-o", scratch.path("out")] + more, environment: ["XDG_RUNTIME_DIR": scratch.path("run")]
        ).outcome()
    }

    private func expectRefusal(_ outcome: Program.Outcome, _ found: String) throws {
        #expect(outcome.status == 1 && outcome.standardError.contains(found), "\(outcome)")
        #expect(try scratch.contents("victim") == ["file"])
        #expect(FileManager.default.contents(atPath: scratch.path("victim/file")) == Data("precious".utf8))
    }

    @Test func folderThatIsALinkIsRefused() throws {
        link("out/.darkroom", to: "victim")
        try expectRefusal(run(), "symbolic link")
        try expectRefusal(run("--again"), "symbolic link")
    }

    @Test(arguments: ["lock", "identity.json", "redis", "redis/redis.log"]) func linkInsideIsRefused(name: String)
        throws
    {
        try make("out/.darkroom/redis")
        if name == "redis" { rmdir(scratch.path("out/.darkroom/redis")) }
        link("out/.darkroom/" + name, to: name == "redis" ? "victim" : "victim/file")
        try expectRefusal(run(), "symbolic link")
    }

    /// Commands that another program has written to the append-only file of a run.
    @Test(arguments: [
        ["CONFIG", "SET", "protected-mode", "no"], ["replicaof", "127.0.0.1", "1"], ["SLAVEOF", "127.0.0.1", "1"],
        ["MODULE", "LOAD", "/tmp/none.so"], ["DEBUG", "SLEEP", "0"], ["SHUTDOWN"],
    ])
    func plantedCommandIsNotExecuted(command: [String]) throws {
        #expect(try run().status == 0)
        let data = "out/.darkroom/redis/appendonlydir"
        let name = try #require(try scratch.contents(data).first { $0.hasSuffix(".incr.aof") })
        let planted = command.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch.path(data + "/" + name)))
        try file.seekToEnd()
        try file.write(contentsOf: Data("*\(command.count)\r\n\(planted)".utf8))
        try file.close()
        let outcome = try run()
        #expect(outcome.status == 1, "\(outcome)")
        for text in ["does not load \(scratch.path(data))", "Unknown command '\(command[0])'", "--again removes"] {
            #expect(outcome.standardError.contains(text), "\(outcome.standardError)")
        }
        #expect(try scratch.contents("run") == [])
        #expect(try run("--again").status == 0)
    }

    @Test func linkedDataFileIsRefused() throws {
        #expect(try run().status == 0)
        let data = "out/.darkroom/redis/appendonlydir"
        let name = try #require(try scratch.contents(data).first { $0.hasSuffix(".incr.aof") })
        _ = try scratch.write("victim/file", "")
        unlink(scratch.path(data + "/" + name))
        link(data + "/" + name, to: "victim/file")
        let outcome = try run()
        #expect(outcome.status == 1 && outcome.standardError.contains("is a symbolic link"), "\(outcome)")
        #expect(FileManager.default.contents(atPath: scratch.path("victim/file")) == Data())
    }

    @Test func folderThatOthersMayUseIsRefused() throws {
        try make("out/.darkroom/redis/appendonlydir")
        #expect(chmod(scratch.path("out/.darkroom"), 0o777) == 0)
        try expectRefusal(run(), "other users may use it")
        #expect(
            chmod(scratch.path("out/.darkroom"), 0o700) == 0 && chmod(scratch.path("out/.darkroom/redis"), 0o755) == 0)
        try expectRefusal(run(), "other users may use it")
        guard geteuid() == 0 else { return }
        #expect(
            chmod(scratch.path("out/.darkroom/redis"), 0o700) == 0
                && chown(scratch.path("out/.darkroom"), 12345, 0) == 0)
        try expectRefusal(run(), "it belongs to user 12345")
    }

    /// Other commands accept the output folder of a run in place of a batch. A `.darkroom` that another user created
    /// could contain the address of that user's Redis.
    @Test func ignoresTheAddressInAFolderThatOthersMayWrite() throws {
        #expect(try run().status == 0)
        _ = try scratch.write("out/.darkroom/redis.url", "unix://\(scratch.path("planted.sock"))\n")
        func status() throws -> Program.Outcome {
            try Program.run(
                "status", scratch.path("out"), environment: ["DARKROOM_REDIS": "unix://\(scratch.path("own.sock"))"])
        }
        let own = try status()
        #expect(own.status == 1 && own.standardError.contains("planted.sock"), "\(own)")
        #expect(chmod(scratch.path("out/.darkroom"), 0o770) == 0)
        let others = try status()
        #expect(others.status == 1 && others.standardError.contains("own.sock"), "\(others)")
        #expect(!others.standardError.contains("planted.sock"), "\(others)")
    }

    @Test func invalidAddressRemovesNoFolder() throws {
        try make("out/.darkroom")
        try make("victim/darkroom-run-abc")
        _ = try scratch.write("victim/darkroom-run-abc/precious", "precious")
        try make("out/.darkroom")
        _ = try scratch.write(
            "out/.darkroom/redis.url", "unix://\(scratch.path("victim"))/darkroom-run-abc/redis.sock\n")
        #expect(try run().status == 0)
        #expect(scratch.exists("victim/darkroom-run-abc/precious"))
        #expect(!scratch.exists("out/.darkroom/redis.url"))
    }

    @Test func followsAnOutputFolderThatIsALink() throws {
        rmdir(scratch.path("out"))
        try make("real")
        link("out", to: "real")
        #expect(try run().status == 0)
        #expect(try scratch.contents("real").count == 2)
        #expect(try run("--again").status == 0)
    }

    @Test func manifestThatIsALinkIsRefused() throws {
        link("out/manifest", to: "victim")
        try expectRefusal(run(), "symbolic link")
    }

    @Test(arguments: ["../../victim", "..", "", "a/../../../victim"])
    func invalidBatchInTheStateRemovesNothing(id: String) throws {
        #expect(try run().status == 0)
        let state = scratch.path("out/.darkroom/identity.json")
        let noted = try String(contentsOfFile: state, encoding: .utf8)
        let batch = try #require(noted.firstMatch(of: /"batch" : "([^"]*)"/)?.1)
        try Data(noted.replacingOccurrences(of: batch, with: id).utf8).write(to: URL(fileURLWithPath: state))
        try expectRefusal(run(), "cannot be read")
        #expect(try run("--again", "--overwrite").status == 0)
        #expect(scratch.exists("victim/file"))
        #expect(try scratch.contents("out").count == 2)
    }
}
