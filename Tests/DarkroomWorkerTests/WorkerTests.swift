import DarkroomConcurrency
import DarkroomModel
import DarkroomPhotoServer
import DarkroomRedis
import DarkroomStorage
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing
import WorkerSupport

@testable import DarkroomWorker

@Suite(.redisServer, .serialized) struct WorkerTests {
    let darkroom: Darkroom
    let photos: PhotoServer

    init() throws {
        darkroom = try Darkroom(.current)
        photos = try PhotoServer(folder: TestFiles.samples)
    }

    private var urls: [String] {
        photos.paths.filter { $0.hasSuffix(".jpg") || $0.hasSuffix(".png") }.sorted().map { photos.url($0) }
    }

    @Test func developsEveryPhotoOfABatchOnce() throws {
        let id = try darkroom.submit(
            (0..<5).flatMap { _ in urls } + ["NO URL", photos.url("/missing.jpg")],
            darkroom.options { $0.operationSize = 7 })
        let facts = try darkroom.withWorker { _ in try darkroom.wait(id) }
        #expect(facts.counts.filtered == 5 * urls.count)
        #expect(facts.failures == [.notAURL: 1, .httpClientError: 1])
        #expect(facts.bytesIn > 0 && facts.bytesOut > 0)
        try darkroom.check(id)
        #expect(try darkroom.store.workers().isEmpty, "a stopped worker is still listed")
        let failures = try darkroom.store.failures(of: id)
        #expect(failures.map(\.index) == [5 * urls.count, 5 * urls.count + 1])
        #expect(failures[0].json.contains("\"reason\":\"not-a-url\""))
    }

    @Test func workerOfATestEndsAlsoIfTheTestFails() throws {
        #expect(throws: CancellationError.self) {
            try darkroom.withWorker { (_: Worker) -> Void in throw CancellationError() }
        }
        darkroom.waitForLog("worker stopped")
        #expect(try darkroom.store.workers().isEmpty)
    }

    @Test func severalWorkersShareABatch() throws {
        let id = try darkroom.submit((0..<20).flatMap { _ in urls }, darkroom.options { $0.operationSize = 5 })
        let done = try darkroom.workers(3) { $0.filtrations = 1 }.run { workers in
            try darkroom.wait(id)
            return workers.map(\.photosDone)
        }
        #expect(done.reduce(0, +) == 20 * urls.count, "photos ran twice: \(done)")
        try darkroom.check(id)
    }

    @Test func startsWithinMillisecondsWhenWorkAppears() throws {
        let waits = try darkroom.withWorker { _ in
            let first = try darkroom.submit([urls[0]], darkroom.options())
            try darkroom.wait(first)
            // Uses the shortest of three waits, because a busy machine may delay a single wait.
            let waits = try (0..<3).map { _ in
                let facts = try darkroom.wait(try darkroom.submit([urls[1]], darkroom.options()))
                return try #require(facts.started) - facts.submitted
            }
            return waits
        }
        #expect(try #require(waits.min()) < 500, "an idle worker waited for its next heartbeat: \(waits) ms")
    }

    @Test func releasesOperationsWhenItStops() async throws {
        let slow = try HostileServer(["/slow": .held(.answer(status: 404))])
        defer { slow.stop() }
        let id = try darkroom.submit(
            (0..<8).map { _ in slow.url("/slow") }, darkroom.options { $0.operationSize = 4 })
        try await darkroom.withWorker {
            $0.downloads = 2
            $0.gracePeriod = .milliseconds(200)
        } run: { _ in
            #expect(await slow.wait { $0.running >= 2 })
        }
        let facts = try #require(try darkroom.store.facts(of: id))
        #expect(facts.executing == 0 && facts.counts.new == 8)
        let operations = try darkroom.store.operations(of: facts, in: 1...2)
        #expect(operations.map(\.state) == [.queued, .queued])
        #expect(operations.map(\.leaseExpiries) == [0, 0])
    }

    @Test func anotherWorkerTakesOverTheLinesOfFinalPhotos() throws {
        let slow = try HostileServer(["/slow": .held(.answer(status: 404))])
        defer { slow.stop() }
        let id = try darkroom.submit([urls[0], urls[1], slow.url("/slow")], darkroom.options())
        try darkroom.withWorker {
            $0.gracePeriod = .milliseconds(100)
        } run: { _ in
            try darkroom.wait(id, "partly reported") { $0.counts.filtered == 2 }
        }
        slow.release()
        let facts = try darkroom.withWorker { _ in try darkroom.wait(id) }
        #expect(facts.counts.filtered == 2 && facts.counts.failed == 1)
        try darkroom.check(id)
        let files = try FileManager.default.contentsOfDirectory(
            atPath: "\(darkroom.folder)/\(ManifestPath.folder(id))")
        #expect(files.count == 1, "the file of the lower fencing token remains: \(files)")
    }

    @Test func leavesABatchWhoseFolderIsMissing() throws {
        let id = try darkroom.submit([urls[0]], darkroom.options(), makesFolder: false)
        let facts = try darkroom.withWorker { _ in
            darkroom.waitForLog("is left to other workers")
            return try darkroom.wait(id, "released") { $0.executing == 0 }
        }
        #expect(facts.counts.new == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: darkroom.folder).isEmpty)
    }

    @Test func leavesABatchWithAnOutputOutsideItsFolders() throws {
        let id = try darkroom.submit([urls[0]], darkroom.options())
        try darkroom.withWorker {
            $0.outputFolders = ["/srv/photos"]
        } run: { _ in
            darkroom.waitForLog("is not in a folder to which this worker may write")
        }
        #expect(try #require(try darkroom.store.facts(of: id)).counts.new == 1)
    }

    /// A slash followed by a combining character is a different `Character`, but still a path separator for the kernel.
    @Test(arguments: ["/../\u{301}esc", "/\u{301}a/..//\u{301}esc"])
    func createsNoFolderOutsideItsFolders(way: String) throws {
        let own = darkroom.folder + "/own"
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
        let id = try darkroom.submit(
            [urls[0]],
            darkroom.options {
                $0.output = own + way
                $0.remoteOutput = true
            }, makesFolder: false)
        try darkroom.withWorker {
            $0.outputFolders = [own]
        } run: { _ in
            darkroom.waitForLog("is not in a folder to which this worker may write")
        }
        #expect(try #require(try darkroom.store.facts(of: id)).counts.new == 1)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: darkroom.folder) == ["own"])
    }

    @Test func reportsAnOperationAsCrashedAfterFiveLeaseExpiries() throws {
        let id = try darkroom.submit([urls[0], urls[1]], darkroom.options())
        _ = try darkroom.store.connection.call(.init("HSET", darkroom.keys.leaseExpiries(id), "1", "5"))
        let facts = try darkroom.withWorker { _ in try darkroom.wait(id) }
        #expect(facts.failures == [.crashed: 2])
        darkroom.waitForLog("error test: operation reported as crashed")
        try darkroom.check(id)
    }

    @Test func continuesAfterAnOutageOfRedis() async throws {
        let server = try RedisServer(arguments: ["--appendonly", "yes", "--appendfsync", "always"])
        defer { server.stop() }
        let darkroom = try Darkroom(server)
        let slow = try HostileServer(["/slow": .held(.answer(status: 404))])
        defer { slow.stop() }
        let id = try darkroom.submit(urls + [slow.url("/slow")], darkroom.options())
        let facts = try await darkroom.withWorker { _ in
            #expect(await slow.wait { $0.running >= 1 })
            server.terminate()
            darkroom.waitForLog("Redis cannot be used")
            try server.restart()
            slow.release()
            return try darkroom.wait(id)
        }
        #expect(facts.counts.filtered == urls.count && facts.counts.failed == 1)
        try darkroom.check(id)
    }

    @Test func removesPartialFilesOfACrashedWorker() throws {
        let id = try darkroom.submit([urls[0]], darkroom.options())
        _ = try darkroom.store.connection.call(.init("HSET", darkroom.keys.leaseExpiries(id), "1", "1"))
        let left = [".\(id)-0.5.crashed-1-a", "manifest/\(id)/.manifest-1.5.crashed-1-a"]
        let others = [".\(id)-1.5.crashed-1-a", ".\(id)-0.9999999999999.running-1-a", ".hidden"]
        for name in left + others {
            #expect(FileManager.default.createFile(atPath: "\(darkroom.folder)/\(name)", contents: Data("half".utf8)))
        }
        try darkroom.withWorker { _ in try darkroom.wait(id) }
        for name in left { #expect(!FileManager.default.fileExists(atPath: "\(darkroom.folder)/\(name)")) }
        for name in others { #expect(FileManager.default.fileExists(atPath: "\(darkroom.folder)/\(name)")) }
    }

    @Test func releasesAllOperationsWhenTheGracePeriodEnds() async throws {
        let slow = try HostileServer(["/slow": .stall])
        defer { slow.stop() }
        let id = try darkroom.submit([slow.url("/slow"), slow.url("/slow")], darkroom.options { $0.operationSize = 1 })
        try await darkroom.withWorker {
            $0.gracePeriod = .milliseconds(50)
        } run: { _ in
            #expect(await slow.wait { $0.running == 2 })
        }
        let facts = try #require(try darkroom.store.facts(of: id))
        #expect(facts.executing == 0 && facts.counts.new == 2)
        #expect(try darkroom.store.operations(of: facts, in: 1...2).map(\.leaseExpiries) == [0, 0])
        #expect(await slow.wait { $0.departures["/slow"] == 2 }, "the transfers were not aborted")
    }

    @Test func stopsWhileRedisIsUnreachable() throws {
        let server = try RedisServer()
        defer { server.stop() }
        let darkroom = try Darkroom(server)
        // `withWorker` fails if the worker waits for Redis to return.
        try darkroom.withWorker {
            $0.gracePeriod = .milliseconds(100)
        } run: { _ in
            try darkroom.wait(try darkroom.submit([urls[0]], darkroom.options()))
            server.terminate()
            darkroom.waitForLog("Redis cannot be used")
        }
    }

    @Test func leavesABatchWithEntriesOfANewerFormat() throws {
        let id = try darkroom.submit([urls[0]], darkroom.options())
        _ = try darkroom.store.connection.call(.init("HSET", darkroom.keys.operations(id), "1", "\u{7}newer"))
        let facts = try darkroom.withWorker { _ in
            darkroom.waitForLog("this program reads 1")
            return try darkroom.wait(id, "released") { $0.executing == 0 }
        }
        #expect(facts.counts.new == 1)
        #expect(
            darkroom.lines.withLock { $0.count { $0.contains("is left to other workers") } } == 1,
            "the worker claimed the batch repeatedly")
    }

    @Test func leavesABatchWithAnOperationWithoutPhotos() throws {
        let id = try darkroom.submit([urls[0]], darkroom.options())
        let entry = OperationEntry(operationSize: 1).packed()
        let field = ["HSET", darkroom.keys.operations(id), "1"].map { Array($0.utf8) }
        for command in [
            RedisCommand(arguments: field + [entry]), RedisCommand("DEL", darkroom.keys.states(id)),
            RedisCommand("HSET", darkroom.keys.leaseExpiries(id), "1", "1"),
        ] { _ = try darkroom.store.connection.call(command) }
        // A worker that crashed has left this manifest.
        let record = PhotoRecord(index: 0, name: "0", url: urls[0])
        let line = ManifestLine(batch: id, record: record, state: .filtered).text(redactingQuery: false)
        let manifest = darkroom.folder + "/" + ManifestPath.folder(id)
        let name = ManifestPath.fileName(operation: 1, fencingToken: 1000)
        try Data(line).write(to: URL(fileURLWithPath: manifest + "/" + name))
        try darkroom.withWorker { _ in darkroom.waitForLog("its entry has 0 photos") }
    }

    @Test func runsWithOneDownloadAndOneFiltration() throws {
        let id = try darkroom.submit(urls, darkroom.options())
        let facts = try darkroom.withWorker {
            $0.downloads = 1
            $0.filtrations = 1
        } run: { _ in
            try darkroom.wait(id)
        }
        #expect(facts.counts.filtered == urls.count)
        try darkroom.check(id)
    }

    @Test func processesNoPhotosInModeNothing() throws {
        let id = try darkroom.submit(
            (0..<500).map { "http://example.com/\($0)" }, darkroom.options { $0.output = "" })
        let facts = try darkroom.withWorker {
            $0.hooks.work = .nothing
        } run: { _ in
            try darkroom.wait(id)
        }
        #expect(facts.counts.filtered == 500)
    }

    /// A folder given by `--outputs-under` may be a symbolic link. Folders in it may not.
    @Test func leavesABatchWhoseOutputLeadsOutsideThroughALink() throws {
        let (inside, outside) = (darkroom.folder + "/inside", darkroom.folder + "/outside")
        for path in [inside, outside + "/deep"] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        #expect(symlink(outside, inside + "/link") == 0 && symlink(inside, darkroom.folder + "/named") == 0)
        let bad = try darkroom.submit([urls[0]], darkroom.options { $0.output = inside + "/link/deep" })
        let good = try darkroom.submit([urls[0]], darkroom.options { $0.output = darkroom.folder + "/named/good" })
        try darkroom.withWorker {
            $0.outputFolders = [inside, darkroom.folder + "/named"]
        } run: { _ in
            darkroom.waitForLog("there is a symbolic link, which is not followed")
            try darkroom.wait(good)
        }
        #expect(try darkroom.store.facts(of: bad)?.counts.new == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside + "/deep") == ["manifest"])
    }

    @Test func writesNoFilesForABatchWhoseIDIsAPath() throws {
        let good = try darkroom.submit([urls[0]], darkroom.options())
        let planted = "../../../\(UUID().uuidString)/deep"
        for suffix in ["", ":states", ":operations", ":queue"] {
            _ = try darkroom.store.connection.call(
                .init("COPY", darkroom.keys.batch(good) + suffix, "\(darkroom.keys.prefix)batch:\(planted)\(suffix)"))
        }
        let outputs = darkroom.folder + "/a/b"
        try FileManager.default.createDirectory(atPath: outputs, withIntermediateDirectories: true)
        _ = try darkroom.store.connection.call(
            .init("HSET", "\(darkroom.keys.prefix)batch:\(planted)", "remote.output", "1", "output", outputs + "/o"))
        _ = try darkroom.store.connection.call(.init("ZADD", darkroom.keys.ready(.normal), "0", planted))
        try darkroom.withWorker {
            $0.outputFolders = [darkroom.folder]
        } run: { _ in
            darkroom.waitForLog("no batch may have this id")
            try darkroom.wait(good)
        }
        try darkroom.check(good)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: darkroom.folder + "/a") == ["b"])
    }
}
