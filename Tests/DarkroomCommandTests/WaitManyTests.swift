import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// `wait` for several batches, and for a batch whose feeder has crashed.
@Suite(.redisServer, .timeLimit(.minutes(5))) struct WaitManyTests {
    private static let urls = (0..<4).map { "http://photos.example/\($0)" }

    @Test func returnsAfterTheLastBatchWithTheMostSevereStatus() throws {
        let queue = try Queue()
        let good = try queue.submit(Self.urls) { $0.name = "good" }
        try queue.develop("F")
        let failed = try queue.submit(Self.urls) { $0.name = "failed" }
        try queue.develop("i")
        let open = try queue.submit(Self.urls) { $0.name = "open" }
        #expect(try queue.run("wait", "good", "failed").status == 3)

        let waiting = try queue.start("wait", "good", "failed", "open", "\(good)", "--json")
        try waiting.waitFor("no running worker takes it")
        _ = try queue.store.perform(queue.store.cancel(open))
        let outcome = try waiting.outcome()
        #expect(outcome.status == 4)
        let facts = try #require(try outcome.json() as? [[String: Any]])
        #expect(facts.map { $0["id"] as? String } == [good, failed, open].map(\.description))
        #expect(facts.map { $0["cancelled"] as? Bool } == [false, false, true])
    }

    @Test func readsTheWorkersOnceInThreeSeconds() throws {
        let redis = try RedisServer()
        defer { redis.stop() }
        let queue = try Queue(redis)
        try queue.submit(Self.urls)
        let began = ContinuousClock.now
        let outcome = try queue.run("wait", "--timeout", "2500ms")
        let seconds = began.duration(to: .now).components.seconds
        #expect(outcome.status == 124 && outcome.standardError.contains("no running worker takes it"))
        // `wait` uses ZREVRANGE only to read the list of workers. It reads the list every three seconds, and once for the
        // result.
        let statistics = try queue.store.connection.call(.init("INFO", "commandstats")).string ?? ""
        let calls = try #require(statistics.firstMatch(of: /cmdstat_zrevrange:calls=(\d+),/)?.1)
        #expect(try #require(Int64(calls)) <= 2 + seconds / 3, "\(statistics)")
    }

    @Test func timeoutReportsTheUnfinishedBatches() throws {
        let queue = try Queue()
        try queue.submit(Self.urls) { $0.name = "done" }
        try queue.develop("F")
        try queue.submit(Self.urls)
        try queue.submit(Self.urls)
        let outcome = try queue.run("wait", "--timeout", "50ms")
        #expect(outcome.status == 124 && outcome.lines.count == 2, "finished batches are not listed")
        #expect(outcome.standardError.contains("2 batches had not finished within 50ms"))
    }

    @Test func unknownBatchIsAnErrorAtOnce() throws {
        let queue = try Queue()
        try queue.submit(Self.urls) { $0.name = "there" }
        let outcome = try queue.run("wait", "there", "none")
        #expect(outcome.status == 1 && outcome.standardError.contains("no batch \"none\""))
    }

    @Test func reportsACrashedFeederAndItsPosition() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls, seal: false)
        try queue.develop("F")
        let silent = String(try queue.store.time() - 90_000)
        _ = try queue.store.connection.call(.init("HSET", queue.store.keys.batch(id), "feeder.seen", silent))
        let waiting = try queue.start("wait", "\(id)")
        try waiting.waitFor("darkroom submit LIST --resume \(id)")
        try waiting.waitFor("4 photos are fed, the list is not complete")
        #expect(try queue.run("status", "\(id)").standardError.contains("--resume \(id)"))
        // Another feeder continues to the end of the list.
        #expect(try queue.store.perform(queue.store.seal(id, operations: 1, photos: 4)) == .sealed)
        let outcome = try waiting.outcome()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.standardError.components(separatedBy: "its feeder has been silent").count == 2, "reported once")
    }
}
