import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// `wait`, on a real Redis server.
@Suite(.redisServer, .serialized)
struct WaitCommandTests {
    private static let urls = (0..<4).map { "http://photos.example/\($0)" }

    @Test(arguments: [("F", 0), ("FFFi", 3)] as [(String, Int32)])
    func finishedBatchReturnsAtOnce(_ stateCodes: String, _ status: Int32) throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls) { $0.name = "summer" }
        try queue.develop(stateCodes)
        let outcome = try queue.run("wait", "summer", "--json")
        #expect(outcome.status == status)
        let facts = try #require(try outcome.json() as? [String: Any])
        #expect(facts["id"] as? String == id.description && facts["state"] as? String == "finished")
        let several = try queue.run("wait", "summer", "\(id)")
        #expect(several.status == status && several.lines.count == 1)
        #expect(several.lines[0].hasPrefix("\(id) \"summer\": finished, "))
    }

    @Test func cancelledBatchEndsWithStatus4() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        try queue.develop("FFFi")
        _ = try queue.store.connection.call(.init("HSET", queue.store.keys.batch(id), "flag.cancelled", "1"))
        #expect(try queue.run("wait", "\(id)").status == 4)
    }

    @Test func succeedsWithoutBatches() throws {
        let queue = try Queue()
        let outcome = try queue.run("wait", "--json")
        #expect(outcome.status == 0 && outcome.standardOutput == "[]\n")
    }

    @Test func waitsForAllUnfinishedBatches() throws {
        let queue = try Queue()
        try queue.submit(Self.urls)
        try queue.develop("i")
        let second = try queue.submit(Self.urls)
        let waiting = try queue.start("wait")
        try waiting.waitFor("no running worker takes it")
        try queue.develop("F")
        let outcome = try waiting.outcome()
        #expect(outcome.status == 0)
        #expect(outcome.standardOutput.hasPrefix("\(second): finished, 4 of 4 photos filtered, in "))
    }

    @Test func endsAfterTheTimeout() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        let outcome = try queue.run("wait", "\(id)", "--timeout", "100ms", "--json")
        #expect(outcome.status == 124)
        #expect(outcome.standardError.contains("1 batch had not finished within 100ms"))
        #expect((try outcome.json() as? [String: Any])?["state"] as? String == "ready")
    }

    @Test func recoversTheOperationsOfALostWorker() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls) { $0.lease = .seconds(6) }
        _ = try queue.claim("lost")
        // No worker runs. The heartbeats of the waiting program advance the lease clock until the lease expires.
        let waiting = try queue.start("wait", "\(id)")
        try waitUntil("the operation of the lost worker is recovered") {
            try queue.store.facts(of: id)?.executing != 1
        }
        #expect(try queue.claim("other").map(\.leaseExpiries) == [1])
        waiting.send(SIGINT)
        #expect(try waiting.outcome().status == 130)
    }

    @Test func reportsAnOutageOfRedisAndItsEnd() throws {
        let server = try RedisServer(arguments: ["--appendonly", "yes", "--appendfsync", "always"])
        defer { server.stop() }
        let queue = try Queue(server)
        let id = try queue.submit(Self.urls)
        let waiting = try queue.start("wait", "\(id)")
        try waiting.waitFor("no running worker")
        server.terminate()
        try waiting.waitFor("Redis cannot be used, trying again until it can: ")
        try server.restart()
        try waiting.waitFor("Redis \(server.configuration.displayName) is back")
        try queue.develop("F")
        let outcome = try waiting.outcome()
        #expect(outcome.status == 0)
        #expect(outcome.standardOutput.contains("finished, 4 of 4 photos filtered"))
        #expect(outcome.standardError.components(separatedBy: "Redis cannot be used").count == 2, "reported once")
    }

    @Test func forgettingTheBatchDuringTheWaitIsAnError() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        let waiting = try queue.start("wait", "\(id)")
        try waiting.waitFor("no running worker")
        #expect(try queue.run("forget", "\(id)", "--force").status == 0)
        let outcome = try waiting.outcome()
        #expect(outcome.status == 1)
        let message = "batch \(id) was forgotten while it was waited for; it had 0 of 4 photos done"
        #expect(outcome.standardError.contains(message))
    }
}
