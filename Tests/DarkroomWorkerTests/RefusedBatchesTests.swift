import DarkroomConcurrency
import DarkroomModel
import DarkroomPhotoServer
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCoordination
@testable import DarkroomWorker

private let samples = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Samples").path

/// Batches that a worker refuses, on a Redis of their own: how often scripts are called is counted.
@Suite(.serialized) final class RefusedBatchesTests {
    let redis: RedisServer
    let darkroom: Darkroom
    let photos: PhotoServer

    init() throws {
        redis = try RedisServer()
        darkroom = try Darkroom(redis)
        photos = try PhotoServer(folder: samples)
    }

    deinit { redis.stop() }

    private var url: String { photos.url(photos.paths.filter { $0.hasSuffix(".jpg") }.sorted()[0]) }

    /// Submits batches whose output is outside of the worker's folders.
    private func submitOutside(_ count: Int, _ priority: BatchPriority) throws -> [BatchID] {
        try (0..<count).map { number in
            let options = darkroom.options {
                $0.output = NSTemporaryDirectory() + "elsewhere/\(number)"
                $0.priority = priority
            }
            return try darkroom.submit([url], options, makesFolder: false)
        }
    }

    /// How often Redis has run a script.
    private func scriptCalls() throws -> Int {
        let text = try darkroom.store.connection.call(RedisCommand("INFO", "commandstats")).string ?? ""
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("cmdstat_evalsha:calls=") }
        return line.flatMap { Int($0.dropFirst("cmdstat_evalsha:calls=".count).prefix { $0 != "," }) } ?? 0
    }

    /// Script calls within 3 s, in which an idle worker sends one heartbeat or two.
    private func callsOfThreeSeconds() throws -> Int {
        let before = try scriptCalls()
        _ = try darkroom.store.connection.call(.init("BLPOP", darkroom.keys.prefix + "nothing", "3"))
        return try scriptCalls() - before
    }

    @Test func moreThanAHundredDoNotKeepAWorkerFromWhatIsBelow() throws {
        let outside = try submitOutside(150, .high)
        let below = try darkroom.submit([url], darkroom.options())
        let worker = try darkroom.worker {
            $0.outputsUnder = [darkroom.folder]
            $0.filtrations = 1
            $0.downloads = 4
        }
        defer {
            worker.stop()
            worker.wait()
        }
        try darkroom.wait(below)
        try darkroom.check(below)
        // What comes later begins as well, and nothing is tried over and over.
        darkroom.waitForLog("\(outside[149])")
        try darkroom.wait(try darkroom.submit([url], darkroom.options()))
        // Also when the worker looks at all of them again, which it does every 2 s where one is due.
        worker.core.coordination.refusals.withLock { $0.checkAgain(.now) }
        let calls = try callsOfThreeSeconds()
        #expect(calls < 15, "an idle worker called \(calls) scripts in 3 s")
        for id in outside { #expect(try darkroom.store.facts(of: id)?.counts.filtered == 0) }
    }

    @Test func aRefusalEndsWhenTheFolderIsThere() throws {
        let options = darkroom.options { $0.output = darkroom.folder + "/share" }
        let id = try darkroom.submit([url], options, makesFolder: false)
        let worker = try darkroom.worker { $0.outputsUnder = [darkroom.folder] }
        defer {
            worker.stop()
            worker.wait()
        }
        darkroom.waitForLog("batch is left to other workers")
        try FileManager.default.createDirectory(
            atPath: options.output + "/" + ManifestPath.folder(id), withIntermediateDirectories: true)
        try darkroom.wait(id)
        #expect(try darkroom.store.facts(of: id)?.counts.filtered == 1)
    }

    @Test func noFolderIsMadeForARefusedBatchThatIsOver() throws {
        // The worker lacks what the batch needs until its folder can be made.
        let file = darkroom.folder + "/share"
        #expect(FileManager.default.createFile(atPath: file, contents: Data()))
        let id = try darkroom.submit(
            [url],
            darkroom.options {
                $0.output = file + "/out"
                $0.remoteOutput = true
            }, makesFolder: false)
        let worker = try darkroom.worker { $0.outputsUnder = [darkroom.folder] }
        defer {
            worker.stop()
            worker.wait()
        }
        darkroom.waitForLog("batch is left to other workers")
        _ = try darkroom.store.perform(darkroom.store.cancel(id))
        try FileManager.default.removeItem(atPath: file)
        let deadline = ContinuousClock.now + .seconds(15)
        while worker.core.coordination.refusals.withLock({ !$0.isEmpty }), .now < deadline {
            _ = try darkroom.store.connection.call(.init("BLPOP", darkroom.keys.prefix + "nothing", "0.05"))
        }
        #expect(worker.core.coordination.refusals.withLock { $0.isEmpty })
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test func whatAWorkerRefusesStandsInRedisAndGoesWithIt() throws {
        let ids = try submitOutside(3, .normal)
        let worker = try darkroom.worker { $0.outputsUnder = [darkroom.folder] }
        for id in ids { darkroom.waitForLog("\(id)") }
        // Told by the claim that follows; the next one is made by a hint.
        try darkroom.wait(try darkroom.submit([url], darkroom.options()))
        let key = darkroom.keys.refused(by: worker.id)
        let kept = try darkroom.store.connection.call(.init("SMEMBERS", key)).array?.compactMap(\.string)
        #expect(Set(kept ?? []) == Set(ids.map(\.description)))
        worker.stop()
        worker.wait()
        #expect(try darkroom.store.connection.call(.init("EXISTS", key)).int == 0)
    }
}
