import Darkroom
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct RunCommandTests {
    static let samples = TestFiles.samples
    /// Without the file, the tests that compare with its bytes fail.
    static let photo = (try? TestFiles.sample("flower.jpg")) ?? []

    let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// Starts `run` with its socket folders in the scratch folder, so that the test can check that no folder is
    /// left.
    func start(_ arguments: String...) throws -> Program {
        return try Program(["run"] + arguments, environment: environment())
    }

    func run(_ list: String, _ more: String..., out: String = "out") throws -> Program.Outcome {
        return try Program(
            ["run", list, "-o", scratch.path(out)] + more, environment: environment()
        ).outcome()
    }

    private func environment() throws -> [String: String] {
        for name in ["run", "tmp"] {
            try FileManager.default.createDirectory(atPath: scratch.path(name), withIntermediateDirectories: true)
        }
        return ["XDG_RUNTIME_DIR": scratch.path("run"), "TMPDIR": scratch.path("tmp")]
    }

    /// Prolongs all leases in the private Redis of a run, so that a run that waits for their end never ends.
    private func prolongLeases() throws {
        let url = try String(contentsOfFile: scratch.path("out/.darkroom/redis.url"), encoding: .utf8)
        let redis = try RedisConfiguration(url: url.trimmingCharacters(in: .newlines))
        let store = BatchStore(redis, keys: try Keys())
        defer { store.connection.close() }
        for id in try store.batchIDs() {
            // Heartbeats renew the leases for this time.
            _ = try store.connection.call(RedisCommand("HSET", store.keys.batch(id), "lease", "3600000"))
        }
        let leases = try store.connection.call(RedisCommand("ZRANGE", store.keys.leases, "0", "-1")).array ?? []
        try #require(!leases.isEmpty)
        for lease in leases.compactMap(\.string) {
            _ = try store.connection.call(RedisCommand("ZADD", store.keys.leases, "9e12", lease))
        }
    }

    /// Starts a server of `count` photos, and writes their list. The server delays all photos from index `held` on
    /// until they are released.
    func serve(_ count: Int, heldFrom held: Int) throws -> (server: HostileServer, list: String) {
        var routes: [String: HostileServer.Route] = [:]
        for index in 0..<count {
            let route = HostileServer.Route.answer(body: Self.photo)
            routes["/\(index).jpg"] = index < held ? route : .held(route)
        }
        let server = try HostileServer(routes)
        let list = try scratch.write("list.txt", (0..<count).map { server.url("/\($0).jpg\n") }.joined())
        return (server, list)
    }

    @Test func developsAFolderOfPhotos() throws {
        let outcome = try run(TestFiles.samples)
        #expect(outcome.status == 0, "\(outcome)")
        let photos = try FileManager.default.contentsOfDirectory(atPath: TestFiles.samples).filter { $0 != "README.md" }
            .sorted()
        #expect(outcome.standardOutput.contains("\(photos.count) photos: \(photos.count) filtered"))
        #expect(outcome.standardOutput.contains("the photos are in \(scratch.path("out"))"))
        let written = try scratch.contents("out").filter { $0 != "manifest" }
        #expect(written == photos.enumerated().map { String(format: "%06d", $0) + "-\($1)" })
        #expect(outcome.standardError.contains("from another terminal: darkroom watch \(scratch.path("out"))"))
        #expect(outcome.standardError.contains("warning: this run works as root: ") == (geteuid() == 0))
        #expect(try scratch.contents("run") == [])
    }

    @Test func photoInPlaceOfAListGetsTheCommandThatDevelopsIt() throws {
        let photo = TestFiles.samples + "/coffee.jpg"
        let first = try run(photo, "--filter", "sepia")
        let command = "darkroom develop \(photo) -o \(scratch.path("out"))"
        #expect(first.status == 1, "\(first)")
        #expect(
            first.standardError
                == "error: photo list \(photo): it is a picture, not a photo list; to develop it: \(command) --filter sepia\n"
        )
        // `develop` does not have this option.
        #expect(try run(photo, "--limit", "3").standardError.hasSuffix("to develop it: \(command)\n"))
        // A list may have any name.
        let list = try scratch.write("list.jpg", "file://\(photo)\n")
        #expect(try run(list).status == 0)
    }

    @Test func printsReasonsOfFailuresAndDevelopsNothingTwice() throws {
        let near = try scratch.write("near.jpg", Self.photo)
        let list = try scratch.write(
            "list.csv",
            "name,url\na,NO URL\nb,ftp://x.example/1\nc,file://\(near)\nd,file://\(TestFiles.samples)/coffee.jpg\n")
        for again in [false, true] {
            let outcome = try run(list)
            #expect(outcome.status == 3, "\(outcome)")
            #expect(outcome.standardOutput.contains("4 photos: 2 filtered, 2 failed"))
            let reasons = outcome.lines.filter { $0.contains(", such as photo ") }
            #expect(reasons.count == 2, "\(outcome)")
            #expect(reasons.first?.hasPrefix("  not-a-url           1, such as photo 0: ") == true, "\(reasons)")
            #expect(reasons.last?.hasPrefix("  scheme-denied       1, such as photo 1: ") == true, "\(reasons)")
            #expect(outcome.standardOutput.contains("nothing to do") == again)
        }
        let json = try run(list, "--json")
        #expect(json.status == 3)
        let facts = try #require(try json.json() as? [String: Any])
        #expect(facts["failures"] as? [String: Int] == ["not-a-url": 1, "scheme-denied": 1])
    }

    @Test func continuesAfterAnInterrupt() async throws {
        let (server, list) = try serve(60, heldFrom: 55)
        defer { server.stop() }
        let first = try start(list, "-o", scratch.path("out"), "--allow-private", "--grace", "1s")
        #expect(await server.wait { log in log.requests.count == 60 })
        // Photos that are not filtered within the grace period are downloaded again.
        try waitUntil("the served photos are filtered") {
            try scratch.contents("out").count { $0 != "manifest" } >= 55
        }
        first.send(SIGINT)
        let interrupted = try first.outcome()
        #expect(interrupted.status == 130, "\(interrupted)")
        #expect(interrupted.standardOutput.isEmpty)
        #expect(interrupted.standardError.contains("run the same command again to continue"))
        #expect(try scratch.contents("run") == [])

        server.release()
        let second = try run(list, "--allow-private")
        #expect(second.status == 0, "\(second)")
        #expect(second.standardOutput.contains("60 photos: 60 filtered"))
        let requests = server.log.requests
        for index in 0..<55 { #expect(requests["/\(index).jpg"] == 1, "photo \(index)") }
        for index in 55..<60 { #expect(requests["/\(index).jpg"] ?? 0 >= 2, "photo \(index)") }
        let manifest = try Program.run("manifest", scratch.path("out"))
        #expect(manifest.lines.count == 60)
    }

    @Test(arguments: ["2>/dev/full", "2>&-", "<&- 2>&-", "<&- >/dev/null 2>&-"])
    func continuesIfItCannotPrint(redirections: String) throws {
        _ = try scratch.write("list.txt", "file://\(TestFiles.samples)/coffee.jpg\nNO URL\n")
        let command = "exec '\(Program.executable.path)' run list.txt -o out \(redirections)"
        let run = try BoundProcess(
            ["sh", "-c", "cd '\(scratch.path(""))' && \(command)"], log: scratch.path("log"))
        #expect(run.wait(within: .seconds(60)))
        // Both photos must fail. The exit status reports the failures.
        #expect(run.exitStatus == 3)
        let manifest = try Program.run("manifest", scratch.path("out"))
        #expect(manifest.lines.count == 2)
    }

    @Test func continuesAfterAKill() async throws {
        let (server, list) = try serve(120, heldFrom: 115)
        defer { server.stop() }
        let first = try start(list, "-o", scratch.path("out"), "--allow-private")
        #expect(await server.wait { log in log.requests.count == 120 })
        try prolongLeases()
        first.send(SIGKILL)
        _ = try first.outcome()
        server.release()

        // The second run releases the operations of the killed run at once.
        let second = try run(list, "--allow-private")
        #expect(second.status == 0, "\(second)")
        #expect(second.standardOutput.contains("120 photos: 120 filtered"))
        #expect(try scratch.contents("out").count == 121)
        #expect(try scratch.contents("run") == [])
        let manifest = try Program.run("manifest", scratch.path("out"))
        #expect(manifest.lines.count == 120)
    }

    @Test func endsAtOnceAfterTheSecondInterrupt() async throws {
        let (server, list) = try serve(5, heldFrom: 0)
        defer { server.stop() }
        let run = try start(list, "-o", scratch.path("out"), "--allow-private", "--grace", "1h")
        #expect(await server.wait { log in log.running > 0 })
        run.send(SIGINT)
        try run.waitFor("interrupt again")
        run.insist(SIGTERM)
        #expect(try run.outcome().status == 130)
    }

    /// Names of old disks, and names that a list could not contain as they are.
    @Test func developsPhotosWhoseNamesHaveAnyBytes() async throws {
        let folder = scratch.path("photos")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let names: [[UInt8]] = [
            Array("tab\t.jpg".utf8), Array("line\n\r.jpg".utf8), Array("\u{1}%41\\.jpg".utf8),
            Array("caf".utf8) + [0xe9] + Array(".jpg".utf8), Array("caf%E9.jpg".utf8),
        ]
        for name in names {
            let path = Array(folder.utf8) + Array("/".utf8) + name + [0]
            let descriptor = path.withUnsafeBytes { bytes in
                open(bytes.bindMemory(to: CChar.self).baseAddress!, O_CREAT | O_WRONLY, 0o600)  // ends with a NUL byte
            }
            #expect(write(descriptor, Self.photo, Self.photo.count) == Self.photo.count && close(descriptor) == 0)
        }
        let outcome = try run(folder)
        #expect(outcome.status == 0 && outcome.standardOutput.contains("5 photos: 5 filtered"), "\(outcome)")
        var found: [String] = []
        for try await entry in PhotoManifest(output: scratch.path("out")).entries() { found.append(entry.record.name) }
        #expect(
            Set(found) == ["tab\t.jpg", "line\n\r.jpg", "\u{1}%41\\.jpg", "%caf%E9.jpg", "caf%E9.jpg"], "\(found)")
        let developed = try Program.run("develop", folder, "-o", scratch.path("developed"))
        #expect(developed.status == 0 && developed.lines.count == 5, "\(developed)")
        #expect(Set(try scratch.contents("developed")) == Set(found))
    }

    /// Without a filter, the files are the photos, byte for byte, and the command says so at its start and in its summary.
    @Test func photosStayAsTheyAreWithoutAFilter() throws {
        let outcome = try run(TestFiles.samples)
        #expect(outcome.status == 0, "\(outcome)")
        let note = "photos: no filters; each photo is kept byte for byte\n"
        #expect(outcome.standardError.contains(note) && outcome.standardOutput.contains(note), "\(outcome)")
        for name in ["coffee.jpg", "moon.png"] {
            let kept = try scratch.contents("out").first { $0.hasSuffix(name) }
            let file = FileManager.default.contents(atPath: scratch.path("out/\(try #require(kept))"))
            #expect(file == FileManager.default.contents(atPath: "\(TestFiles.samples)/\(name)"))
        }
    }

    @Test func refusesAnotherJobInTheSameFolder() throws {
        let list = try scratch.write("list.txt", "ftp://a\n")
        #expect(try run(list).status == 3)
        let other = try run(list, "--filter", "sepia=0.5", "--quality", "70")
        #expect(other.status == 1)
        for text in [
            "the filters then none, now sepia=0.5", "the encoding then the default, now quality=70", "--again",
        ] {
            #expect(other.standardError.contains(text), "\(other.standardError)")
        }
        // The advice is the whole command.
        let command = "darkroom run \(list) -o \(scratch.path("out")) --filter sepia=0.5 --quality 70 --again"
        #expect(other.standardError.contains(command), "\(other.standardError)")
        // No filter is the default.
        #expect(try run(list, "--filter", "none").standardOutput.contains("nothing to do"))
        _ = try scratch.write("list.txt", "ftp://b\n")
        let changed = try run(list)
        #expect(changed.status == 1)
        #expect(changed.standardError.contains("not the one it was begun with"), "\(changed.standardError)")
        #expect(changed.standardError.contains("--again"))

        let again = try run(list, "--filter", "sepia=0.5", "--again")
        #expect(again.status == 3, "\(again)")
        #expect(try scratch.contents("out/manifest").filter { $0 != "holder.txt" }.count == 1)
        #expect(try run(list, "--filter", "sepia=0.5").standardOutput.contains("nothing to do"))
    }

    @Test func continuesWithAGrownList() throws {
        let (server, whole) = try serve(130, heldFrom: 130)
        defer { server.stop() }
        let lines = try String(contentsOfFile: whole, encoding: .utf8).split(separator: "\n").map { $0 + "\n" }
        let list = try scratch.write("growing.txt", lines.prefix(55).joined())
        #expect(try run(list, "--allow-private").status == 0)
        _ = try scratch.write("growing.txt", lines.joined())
        let grown = try run(list, "--allow-private")
        #expect(grown.status == 0, "\(grown)")
        #expect(grown.standardError.contains("the list has grown: its photos from index 55 on are new"))
        #expect(grown.standardOutput.contains("130 photos: 130 filtered"))
        for index in 0..<130 { #expect(server.log.requests["/\(index).jpg"] == 1, "photo \(index)") }
        #expect(try Program.run("manifest", scratch.path("out")).lines.count == 130)
        #expect(try scratch.contents("out").count == 131)
        #expect(try run(list, "--allow-private").standardOutput.contains("nothing to do"))
        // The list has one photo fewer than the batch.
        _ = try scratch.write("growing.txt", lines.dropFirst().joined())
        let other = try run(list, "--allow-private")
        #expect(other.status == 1)
        #expect(other.standardError.contains("it ends after 129 of the 130 photos fed before"), "\(other)")
        #expect(other.standardError.contains("The first difference: photo 0 was "), "\(other)")
        #expect(other.standardError.contains("(\(server.url("/0.jpg"))) and is "), "\(other)")
    }

    @Test func againReportsFilesWithoutAPhoto() throws {
        let (server, list) = try serve(3, heldFrom: 3)
        defer { server.stop() }
        #expect(try run(list, "--allow-private").status == 0)
        let own = try scratch.write("out/000009-own.jpg", "a file of the user's")
        _ = try scratch.write("list.txt", (0..<2).map { server.url("/\($0).jpg\n") }.joined())
        let again = try run(list, "--allow-private", "--again")
        #expect(again.status == 0)
        let left = try scratch.contents("out").filter { $0.hasPrefix("000002") }
        #expect(left.count == 1 && FileManager.default.fileExists(atPath: own))
        #expect(
            again.standardError.contains("1 file of the earlier batch belongs to no photo of this batch: \(left[0]);"))
        #expect(
            try String(contentsOfFile: scratch.path("out/.darkroom/left-over.txt"), encoding: .utf8) == left[0] + "\n")
        #expect(!(try run(list, "--allow-private").standardError.contains("earlier batch")))
    }

    @Test func refusesAFolderOfAnotherBatch() throws {
        let list = try scratch.write("list.txt", "ftp://photos.example/1\n")
        try FileManager.default.createDirectory(
            atPath: scratch.path("out/manifest/20200101-000000000-0000"), withIntermediateDirectories: true)
        let outcome = try run(list)
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("20200101-000000000-0000"))
        #expect(!scratch.exists("out/.darkroom"))
        #expect(try run(list, "--overwrite").status == 3)
    }

    @Test func refusesAFolderThatAnotherRunUses() async throws {
        let (server, list) = try serve(1, heldFrom: 0)
        defer { server.stop() }
        let first = try start(list, "-o", scratch.path("out"), "--allow-private")
        #expect(await server.wait { log in log.requests.count == 1 })
        let second = try run(list, "--allow-private")
        #expect(second.status == 1)
        #expect(second.standardError.contains("process \(first.identifier)"), "\(second.standardError)")
        server.release()
        #expect(try first.outcome().status == 0)
    }

    @Test func createsNothingForAnUnreadableList() throws {
        let list = try scratch.write("list.jsonl", "{\"url\": \"NO URL\"}\n")
        let outcome = try run(scratch.path("none.txt"))
        #expect(outcome.status == 1)
        #expect(!scratch.exists("out"))
        #expect(try run(list).status == 3)
    }

    @Test func continuesAfterAKillBeforeTheSubmission() throws {
        let list = try scratch.write("list.txt", "ftp://photos.example/1\n")
        #expect(try run(list).status == 3)
        // Simulates a run that was killed after writing the state file and before submitting the batch.
        try FileManager.default.removeItem(atPath: scratch.path("out/.darkroom/redis"))
        let manifest = scratch.path("out/manifest/") + (try scratch.contents("out/manifest")[0])
        for file in try FileManager.default.contentsOfDirectory(atPath: manifest) {
            try FileManager.default.removeItem(atPath: manifest + "/" + file)
        }
        let outcome = try run(list)
        #expect(outcome.status == 3, "\(outcome)")
        #expect(!outcome.standardOutput.contains("nothing to do"))

        // Now the manifest has lines, so the missing Redis data is an error.
        try FileManager.default.removeItem(atPath: scratch.path("out/.darkroom/redis"))
        let lost = try run(list)
        #expect(lost.status == 1)
        #expect(lost.standardError.contains("--again"))
        #expect(try run(list, "--again").status == 3)
    }
}

@Suite(.redisServer, .timeLimit(.minutes(5))) struct SharedRunTests {
    @Test func runsThroughASharedRedis() throws {
        let scratch = try ScratchFolder()
        let queue = try Queue()
        let redis = queue.redis.configuration.displayName
        let list = try scratch.write("list.txt", "ftp://photos.example/1\n")
        for again in [false, true] {
            let outcome = try queue.run("run", list, "-o", scratch.path("out"), "--redis", redis)
            #expect(outcome.status == 3, "\(outcome)")
            #expect(outcome.standardOutput.contains("nothing to do") == again)
        }
        #expect(try queue.store.batchIDs().count == 1)
        #expect(!scratch.exists("out/.darkroom/redis"))
        #expect(try queue.run("run", list, "-o", scratch.path("out"), "--redis", redis, "--again").status == 3)
        #expect(try queue.store.batchIDs().count == 1)
    }
}
