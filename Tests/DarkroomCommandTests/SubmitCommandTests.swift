import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

@Suite(.redisServer(arguments: ["--appendonly", "yes"]), .timeLimit(.minutes(5))) struct SubmitCommandTests {
    let queue: Queue
    let scratch: ScratchFolder

    init() throws {
        queue = try Queue()
        scratch = try ScratchFolder()
    }

    /// Writes a list of `count` photos. No server has them.
    func list(_ count: Int, named name: String = "list.txt", from first: Int = 0) throws -> String {
        try scratch.write(name, (first..<first + count).map { "http://photos.example/\($0).jpg\n" }.joined())
    }

    func facts() throws -> [BatchFacts] { try queue.store.facts(of: queue.store.batchIDs()) }

    @Test func escapesControlCharactersInRemarksOnAList() throws {
        let folder = scratch.path("a\u{1b}[31m\u{202e}")
        try FileManager.default.createDirectory(atPath: folder + "/deep", withIntermediateDirectories: true)
        try Data([1]).write(to: URL(fileURLWithPath: folder + "/0.jpg"))
        let outcome = try queue.run("submit", folder, "-o", scratch.path("out"))
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.standardError.contains(#"a\u{1b}[31m\u{202e}: 1 subfolder skipped"#), "\(outcome)")
        #expect(!outcome.standardError.unicodeScalars.contains { $0 == "\u{1b}" || $0 == "\u{202e}" })
    }

    @Test func reportsGuessedColumns() throws {
        let rows = (0..<5).map { "photo \($0),http://photos.example/\($0)\n" }.joined()
        let list = try scratch.write("album.csv", "motif,where\n" + rows)
        let outcome = try queue.run("submit", list, "-o", scratch.path("out"))
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try facts().first?.photos == 5)
        #expect(outcome.standardError.contains("column 2 (\"where\") has the URLs, column 1 the names"), "\(outcome)")
    }

    @Test func printsOnlyTheIdAndCreatesTheFolders() throws {
        let out = scratch.path("new/deep/out")
        let outcome = try queue.run("submit", list(120), "-o", out, "--name", "holidays", "--filter", "sepia=0.5")
        #expect(outcome.status == 0, "\(outcome)")
        let batch = try #require(facts().first)
        #expect(outcome.standardOutput == "\(batch.id)\n")
        #expect((batch.photos, batch.operations, batch.sealed) == (120, 3, true))
        #expect(batch.options.name == "holidays")
        #expect(batch.options.filters == [.sepia(intensity: 0.5)])
        #expect(batch.options.output == out)
        #expect(batch.options.fileName == "{index}-{name}")
        #expect(scratch.exists("new/deep/out/manifest/\(batch.id)"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: out) == ["manifest"])
    }

    @Test func makesRelativeOutputsAbsolute() throws {
        #expect(
            try queue.run("submit", list(1), "-o", "build-output-of-a-test/../\(UUID())", "--remote-output").status == 2
        )
        let folder = UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try queue.run("submit", list(1), "-o", "./x/../\(folder)").status == 0)
        #expect(try facts().first?.options.output == FileManager.default.currentDirectoryPath + "/" + folder)
    }

    @Test func remoteOutputFolderIsNotCreated() throws {
        #expect(try queue.run("submit", list(1), "-o", scratch.path("remote"), "--remote-output").status == 0)
        #expect(!scratch.exists("remote"))
        #expect(try facts().first?.options.remoteOutput == true)
    }

    @Test func namesFilesByTheKeysOfADictionary() throws {
        let plist = try scratch.write(
            "a.plist", "<plist><dict><key>cat</key><string>http://photos.example/1</string></dict></plist>")
        #expect(try queue.run("submit", plist, "-o", scratch.path("out")).status == 0)
        #expect(try facts().first?.options.fileName == "{name}")
        let outcome = try queue.run("submit", list(1), "-o", scratch.path("out2"), "--file-name", "{name}")
        #expect(outcome.status == 2)
        #expect(outcome.standardError.contains("add {index}"))
    }

    @Test func refusesTheFolderOfAnotherBatch() throws {
        let out = scratch.path("out")
        let first = try queue.run("submit", list(1), "-o", out).lines[0]
        let byManifest = try queue.run("submit", list(1), "-o", out + "/.")
        #expect(byManifest.status == 1)
        #expect(byManifest.standardError.contains(first) && byManifest.standardError.contains("--overwrite"))

        // The folder is removed. Redis still has the batch.
        try FileManager.default.removeItem(atPath: out)
        let byRedis = try queue.run("submit", list(1), "-o", out)
        #expect(byRedis.status == 1)
        #expect(byRedis.standardError.contains(first) && byRedis.standardError.contains("--overwrite"))
        #expect(try queue.store.batchIDs().count == 1)
        #expect(!scratch.exists("out/manifest"))

        #expect(try queue.run("submit", list(1), "-o", out, "--overwrite").status == 0)
        #expect(try queue.store.batchIDs().count == 2)
    }

    @Test func rejectsInvalidListsAndFoldersBeforeTheSubmission() throws {
        let file = try scratch.write("file", "x")
        let cases: [(arguments: [String], found: String)] = [
            (["none.txt", "-o", scratch.path("out")], "no such file"),
            ([try scratch.write("empty", ""), "-o", scratch.path("out")], "empty"),
            ([try scratch.write("comments", "# nothing\n"), "-o", scratch.path("out")], "0 photos"),
            ([try scratch.write("bytes.jpg", "\u{0}\u{1}\u{2}"), "-o", scratch.path("out")], "photo list"),
            ([try list(1), "-o", file], "it is a file"),
            ([try list(1), "-o", file + "/below"], "Not a directory"),
        ]
        for (arguments, found) in cases {
            let outcome = try Program(
                ["submit"] + arguments + ["--namespace", queue.namespace], environment: queue.environment
            )
            .outcome()
            #expect(outcome.status == 1)
            #expect(outcome.standardOutput.isEmpty)
            #expect(outcome.standardError.contains(found), "\(outcome.standardError)")
        }
        #expect(try queue.store.batchIDs().isEmpty)
        #expect(!scratch.exists("out"))
    }

    @Test func refusesARedisThatEvicts() throws {
        let server = try RedisServer(arguments: ["--maxmemory-policy", "allkeys-lru"])
        defer { server.stop() }
        let outcome = try Program.run(
            "submit", list(1), "-o", scratch.path("out"), "--redis", server.configuration.displayName)
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("maxmemory-policy noeviction"))
    }

    @Test func reportsAnUnreachableRedis() throws {
        let outcome = try Program.run(
            "submit", list(1), "-o", scratch.path("out"), "--redis", "unix:///nowhere/redis.sock")
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("unix:///nowhere/redis.sock"))
    }

    @Test(arguments: [["--filter", "sepia=0.5"], ["--name", "other"], ["--window", "6"], ["--format", "png"]])
    func resumeRejectsOptionsOfANewBatch(_ options: [String]) throws {
        let outcome = try Program(["submit", "list.txt", "--resume", "x"] + options).outcome()
        #expect(outcome.status == 2 && outcome.standardError.contains("leave out the options of a new batch"))
    }

    @Test(arguments: [[], ["-o", ""]]) func requiresAFolderOrABatchToResume(
        arguments: [String]
    ) throws {
        #expect(try Program(["submit", "list.txt"] + arguments).outcome().status == 2)
    }

    @Test func resubmitsABatchThatRedisHasLost() throws {
        let id = try #require(try queue.run("submit", list(120), "-o", scratch.path("out")).lines.first)
        let there = try queue.run("submit", list(120), "--resume", id, "-o", scratch.path("out"))
        #expect(there.status == 1 && there.standardError.contains("Redis has the batch"), "\(there)")

        // Simulates a failover to a replica without the batch.
        let keys = try #require(try queue.store.connection.call(.init("KEYS", queue.store.keys.prefix + "*")).array)
        _ = try queue.store.connection.call(.init(arguments: [Array("DEL".utf8)] + keys.compactMap(\.bytes)))
        let lost = try queue.run("submit", list(120), "--resume", id)
        #expect(lost.status == 1 && lost.standardError.contains("--resume \(id) -o <folder>"), "\(lost)")
        let again = try queue.run("submit", list(120), "--resume", id, "-o", scratch.path("out"), "--name", "again")
        #expect(again.status == 0 && again.standardOutput == "\(id)\n", "\(again)")
        let facts = try queue.store.batch(named: "again")
        #expect(facts.id.description == id && facts.photos == 120 && facts.sealed)

        #expect(try queue.run("forget", id, "--force").status == 0)
        let forgotten = try queue.run("submit", list(120), "--resume", id, "-o", scratch.path("out"))
        #expect(forgotten.status == 1 && forgotten.standardError.contains("it was forgotten"), "\(forgotten)")
        #expect(try queue.store.batchIDs().isEmpty)
    }

    @Test func completeOperationsOfASlowListAreFedAtOnce() throws {
        let pipe = scratch.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        // Opened for reading and writing, so that open(2) does not block.
        let descriptor = open(pipe, O_RDWR)
        let feeding = try Program(
            ["submit", "-", "-o", scratch.path("out"), "--namespace", queue.namespace], environment: queue.environment,
            input: pipe)
        let photos = (0..<130).map { "http://photos.example/\($0).jpg\n" }.joined()
        #expect(write(descriptor, photos, photos.utf8.count) == photos.utf8.count)
        try waitUntil("the two complete operations are fed") {
            try queue.store.facts(of: queue.store.batchIDs()).first?.operations == 2
        }
        close(descriptor)
        let outcome = try feeding.outcome()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try queue.store.facts(of: queue.store.batchIDs()).map(\.photos) == [130])
    }

    @Test func continuesAfterAnInterrupt() throws {
        let interrupted = try queue.start("submit", list(400), "-o", scratch.path("out"), "--window", "3")
        try interrupted.waitFor("no running worker")
        interrupted.send(SIGINT)
        let outcome = try interrupted.outcome()
        #expect(outcome.status == 130)
        let batch = try #require(facts().first)
        #expect(outcome.standardError.contains("--resume \(batch.id)"))
        #expect((batch.photos, batch.sealed) == (150, false))

        let other = try queue.run("submit", list(400, named: "other.txt", from: 1), "--resume", batch.id.description)
        #expect(other.status == 1)
        #expect(other.standardError.contains("not the one it was begun with"), "\(other.standardError)")

        let resumed = try queue.start("submit", list(400), "--resume", batch.id.description, "--json")
        try endEverything(of: batch.id)
        let end = try resumed.outcome()
        #expect(end.status == 0, "\(end)")
        let facts = try #require(try end.json() as? [String: Any])
        #expect(facts["photos"] as? Int == 400)
        #expect(facts["operations"] as? Int == 8)
    }

    @Test func feedsStandardInput() throws {
        let outcome = try Program(
            ["submit", "-", "-o", scratch.path("out"), "--namespace", queue.namespace], environment: queue.environment,
            input: list(70)
        ).outcome()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try facts().first?.photos == 70)
    }

    @Test func waitOptionWaitsForTheEndOfTheBatch() throws {
        let worker = try queue.start("worker")
        let list = try scratch.write("list.txt", "NO URL\nftp://photos.example/1\nfile:///etc/hostname\n")
        let outcome = try queue.run("submit", list, "-o", scratch.path("out"), "--wait")
        #expect(outcome.status == 3)
        #expect(outcome.lines.count == 1)
        #expect(outcome.standardError.contains("3 photos: 0 filtered, 3 failed"))
        #expect(outcome.standardError.contains("not-a-url"))
        #expect(outcome.standardError.contains("scheme-denied"))

        let json = try queue.run("submit", list, "-o", scratch.path("out2"), "--wait", "--json")
        #expect(json.status == 3)
        let facts = try #require(try json.json() as? [String: Any])
        #expect((facts["counts"] as? [String: Int])?["failed"] == 3)
        #expect(facts["state"] as? String == "finished")
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
    }

    /// Claims the fed operations and reports their photos as filtered until the batch has finished.
    func endEverything(of id: BatchID) throws {
        let deadline = ContinuousClock.now + .seconds(30)
        var claim = 0
        while try queue.store.facts(of: id)?.state != .finished {
            try #require(ContinuousClock.now < deadline)
            claim += 1
            guard
                case .claimed(let claimed) = try queue.store.perform(
                    queue.store.claim(worker: "nothing", number: claim))
            else { continue }
            for operation in claimed.operations {
                let stateCodes = [UInt8](repeating: UInt8(ascii: "F"), count: operation.stateCodes.count)
                _ = try queue.store.perform(
                    queue.store.report(
                        operation.held, worker: "nothing", stateCodes: stateCodes, bytesIn: 0, bytesOut: 0))
            }
        }
    }
}
