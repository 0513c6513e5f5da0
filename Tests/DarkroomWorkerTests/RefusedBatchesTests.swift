import DarkroomConcurrency
import DarkroomModel
import DarkroomPhotoServer
import DarkroomRedis
import DarkroomStorage
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker

/// Batches that a worker refuses. The tests count script calls, so each test has its own Redis server.
@Suite(.serialized) final class RefusedBatchesTests {
    let redis: RedisServer
    let darkroom: Darkroom
    let photos: PhotoServer

    init() throws {
        redis = try RedisServer()
        darkroom = try Darkroom(redis)
        photos = try PhotoServer(folder: TestFiles.samples)
    }

    deinit { redis.stop() }

    private var url: String { photos.url(photos.paths.filter { $0.hasSuffix(".jpg") }.sorted()[0]) }

    /// Submits batches whose output is outside the worker's folders.
    private func submitOutside(_ count: Int, _ priority: BatchPriority) throws -> [BatchID] {
        try (0..<count).map { number in
            let options = darkroom.options {
                $0.output = NSTemporaryDirectory() + "elsewhere/\(number)"
                $0.priority = priority
            }
            return try darkroom.submit([url], options, makesFolder: false)
        }
    }

    /// The number of script calls since Redis started.
    private func scriptCalls() throws -> Int {
        let text = try darkroom.store.connection.call(RedisCommand("INFO", "commandstats")).string ?? ""
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("cmdstat_evalsha:calls=") }
        return line.flatMap { Int($0.dropFirst("cmdstat_evalsha:calls=".count).prefix { $0 != "," }) } ?? 0
    }

    /// The number of script calls within 3 s, including one or two heartbeats of an idle worker.
    private func callsOfThreeSeconds() throws -> Int {
        let before = try scriptCalls()
        _ = try darkroom.store.connection.call(.init("BLPOP", darkroom.keys.prefix + "nothing", "3"))
        return try scriptCalls() - before
    }

    @Test func workerClaimsLowerPrioritiesBelowMoreThan100RefusedBatches() throws {
        let outside = try submitOutside(150, .high)
        let below = try darkroom.submit([url], darkroom.options())
        try darkroom.withWorker {
            $0.outputFolders = [darkroom.folder]
            $0.filtrations = 1
            $0.downloads = 4
        } run: { worker in
            try darkroom.wait(below)
            try darkroom.check(below)
            // Later batches also start, and the worker does not retry the refused batches repeatedly.
            darkroom.waitForLog("\(outside[149])")
            try darkroom.wait(try darkroom.submit([url], darkroom.options()))
            // This also applies when the worker checks all refused batches again, which it does at most every 2 s.
            worker.core.coordination.refusals.withLock { $0.checkAgain(.now) }
            // The check of all batches after the start of Redis has ended.
            while try darkroom.store.repair(steps: 100).hasMore {}
            let calls = try callsOfThreeSeconds()
            #expect(calls < 15, "an idle worker called \(calls) scripts in 3 s")
            for id in outside { #expect(try darkroom.store.facts(of: id)?.counts.filtered == 0) }
        }
    }

    @Test func refusalEndsWhenTheFolderExists() throws {
        let options = darkroom.options { $0.output = darkroom.folder + "/share" }
        let id = try darkroom.submit([url], options, makesFolder: false)
        try darkroom.withWorker {
            $0.outputFolders = [darkroom.folder]
        } run: { _ in
            darkroom.waitForLog("batch is left to other workers")
            try FileManager.default.createDirectory(
                atPath: options.output + "/" + ManifestPath.folder(id), withIntermediateDirectories: true)
            try darkroom.wait(id)
            #expect(try darkroom.store.facts(of: id)?.counts.filtered == 1)
        }
    }

    @Test func createsNoFolderForAFinishedRefusedBatch() throws {
        // A file in place of the parent folder prevents the worker from creating the output folder.
        let file = darkroom.folder + "/share"
        #expect(FileManager.default.createFile(atPath: file, contents: Data()))
        let id = try darkroom.submit(
            [url],
            darkroom.options {
                $0.output = file + "/out"
                $0.remoteOutput = true
            }, makesFolder: false)
        try darkroom.withWorker {
            $0.outputFolders = [darkroom.folder]
        } run: { worker in
            darkroom.waitForLog("batch is left to other workers")
            _ = try darkroom.store.perform(darkroom.store.cancel(id))
            try FileManager.default.removeItem(atPath: file)
            try waitUntil("the worker has forgotten its refusal") {
                worker.core.coordination.refusals.withLock { $0.isEmpty }
            }
            #expect(!FileManager.default.fileExists(atPath: file))
        }
    }

    @Test func storesRefusalsInRedisAndRemovesThemWhenTheWorkerStops() throws {
        let ids = try submitOutside(3, .normal)
        let key = try darkroom.withWorker {
            $0.outputFolders = [darkroom.folder]
        } run: { worker in
            for id in ids { darkroom.waitForLog("\(id)") }
            // The next claim sends the refusals. The change notice of a new batch triggers this claim.
            try darkroom.wait(try darkroom.submit([url], darkroom.options()))
            let key = darkroom.keys.refused(by: worker.id)
            let kept = try darkroom.store.connection.call(.init("SMEMBERS", key)).array?.compactMap(\.string)
            #expect(Set(kept ?? []) == Set(ids.map(\.description)))
            return key
        }
        #expect(try darkroom.store.connection.call(.init("EXISTS", key)).int == 0)
    }
}
