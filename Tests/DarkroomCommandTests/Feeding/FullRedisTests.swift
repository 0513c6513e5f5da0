import Darkroom
import DarkroomRedis
import DarkroomTestSupport
import Foundation
import Testing

/// A list that is larger than the memory limit of Redis. `submit` waits until workers have finished operations.
@Suite(.timeLimit(.minutes(5)), .serialized) struct FullRedisTests {
    private static let photos = 3000

    private let redis: RedisServer
    private let queue: Queue
    private let scratch: ScratchFolder
    private let list: String

    init() throws {
        redis = try RedisServer()
        queue = try Queue(redis)
        scratch = try ScratchFolder()
        let photo = try scratch.write("photo.png", Self.smallPhoto)
        // All URLs name the same file, because a query is not part of its path. The queries are random digits, so that the list
        // uses about 5 MB of the memory of Redis.
        list = try scratch.write(
            "list.txt",
            (0..<Self.photos).map { index in
                let digits = (0..<192).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 16) }.joined()
                return "file://\(photo)?\(index)-\(digits)\n"
            }.joined())
    }

    /// A PNG of one pixel.
    private static let smallPhoto: [UInt8] = {
        let text =
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNwaDgAAAKEAYEml6crAAAAAElFTkSuQmCC"
        return [UInt8](Data(base64Encoded: text) ?? Data())
    }()

    /// Limits the memory of Redis to its present size and room for a part of the list. The room is larger than what scripts
    /// leave in the memory of their interpreter, because Redis 8 counts it.
    private func limitMemory() throws {
        let more = 3 << 20
        let information = ServerInformation(
            try queue.store.connection.call(RedisCommand("INFO", "memory")).string ?? "")
        let limit = try #require(information.int("used_memory")) + more
        _ = try queue.store.connection.call(RedisCommand("CONFIG", "SET", "maxmemory", "\(limit)"))
    }

    private func batch() throws -> BatchFacts? { try queue.store.facts(of: queue.store.batchIDs()).first }

    @Test func submitReportsAFullRedisAndWaitsForWorkers() throws {
        defer { redis.stop() }
        try limitMemory()
        let submit = try queue.start("submit", list, "-o", scratch.path("out"))
        try submit.waitFor("Redis has no memory left (")
        try submit.waitFor("no running worker takes it")
        let waiting = try #require(try batch())
        #expect(waiting.photos > 0 && waiting.photos < Self.photos && !waiting.sealed)
        #expect(waiting.counts.new == waiting.photos)

        let worker = try queue.start(
            "worker", "--files-under", scratch.path(""), "--outputs-under", scratch.path(""))
        let outcome = try submit.outcome()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try queue.run("wait", "\(waiting.id)").status == 0)
        let done = try #require(try batch())
        #expect(done.sealed && done.photos == Self.photos && done.counts.filtered == Self.photos)
        #expect(done.operationsEnded == done.operations && done.counts.failed == 0)
        #expect(try Program.run("manifest", scratch.path("out")).lines.count == Self.photos)

        // Redis may run out of memory several times. `submit` may finish before it reports that Redis has memory again.
        let reports = ["Redis has no memory left (", "Redis has memory again"].map { words in
            outcome.standardError.components(separatedBy: words).count - 1
        }
        #expect(reports[0] == reports[1] || reports[0] == reports[1] + 1, "\(outcome.standardError)")
        for text in [
            " MB used, maxmemory ", "feeding continues when workers have finished operations", "--window",
            "raise maxmemory",
        ] { #expect(outcome.standardError.contains(text), "\(outcome.standardError)") }
        #expect(!outcome.standardError.contains("its feeder has been silent"))
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
    }

    @Test(arguments: [SIGINT, SIGTERM]) func interruptedSubmitLosesNothing(signal: Int32) throws {
        defer { redis.stop() }
        try limitMemory()
        let submit = try queue.start("submit", list, "-o", scratch.path("out"))
        try submit.waitFor("Redis has no memory left (")
        submit.send(signal)
        let stopped = try submit.outcome()
        #expect(stopped.status == 130)
        let fed = try #require(try batch())
        #expect(
            stopped.standardError.contains(
                "interrupted: batch \(fed.id) is not complete; continue: darkroom submit \(list) --resume \(fed.id)"))
        #expect(fed.photos > 0 && fed.counts.new == fed.photos && fed.operations * 50 == fed.photos)

        _ = try queue.store.connection.call(RedisCommand("CONFIG", "SET", "maxmemory", "0"))
        #expect(try queue.run("submit", list, "--resume", "\(fed.id)").status == 0)
        let all = try #require(try batch())
        #expect(all.sealed && all.photos == Self.photos && all.counts.new == Self.photos)
    }

    @Test func waitsIfTheBatchItselfDoesNotFit() throws {
        defer { redis.stop() }
        _ = try queue.store.connection.call(RedisCommand("CONFIG", "SET", "maxmemory", "1"))
        let interrupted = try queue.start("submit", list, "-o", scratch.path("out"))
        try interrupted.waitFor("Redis has no memory left (")
        interrupted.send(SIGINT)
        let outcome = try interrupted.outcome()
        #expect(outcome.status == 130 && outcome.standardError.contains("interrupted: nothing was submitted"))
        #expect(try queue.store.batchIDs().isEmpty)

        let submit = try queue.start("submit", list, "-o", scratch.path("other"))
        // No operation is left whose end would free memory, so waiting alone does not help.
        try submit.waitFor("no operation is left that would free some when it ends: raise maxmemory")
        _ = try queue.store.connection.call(RedisCommand("CONFIG", "SET", "maxmemory", "0"))
        #expect(try submit.outcome().status == 0)
        #expect(try batch()?.photos == Self.photos)
    }
}
