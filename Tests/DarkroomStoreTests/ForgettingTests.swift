import DarkroomModel
import DarkroomRedis
import DarkroomTestSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

@Suite(.redisServer) struct ForgettingTests {
    /// Submits a batch with 250 executing and 50 queued operations.
    private func large(_ test: TestStore) throws -> (id: BatchID, held: [HeldOperation]) {
        let id = try test.submit("large", size: 2, operations: 300) { $0.output = "/photos" }
        let held = try (1...25).flatMap { _ in try test.claim(operations: 10) }.map(\.held)
        try test.report(held[0], "aD")
        return (id, held)
    }

    /// Expects that no key of a batch remains.
    private func expectNothingLeft(_ test: TestStore) throws {
        var left = try test.state()
        left.workers = [:]
        left.workerHashes = [:]
        #expect(left.batches.isEmpty && left.submissions.isEmpty && left.readyQueues.isEmpty && left.leases.isEmpty)
        #expect(left.outputs.isEmpty && left.expiring.isEmpty)
    }

    @Test func forgetsALargeBatchInSteps() throws {
        let test = try TestStore()
        let (id, held) = try large(test)
        let forget = test.store.forget(id, unfinished: true)
        #expect(try test.store.perform(forget) == .more)
        #expect(try test.state().batches[id]?.executing.count == 150)
        #expect(try test.store.facts(of: id) == nil)
        let repeated = test.store.claim(worker: "worker", number: 25, operations: 10)

        // A partly forgotten batch counts as forgotten, and its operations cannot be claimed.
        #expect(try test.report(held[0], "FF") == .gone)
        #expect(try test.store.perform(test.store.release(held[1], worker: "worker")) == .gone)
        #expect(try test.store.perform(test.feeding(id, 301, photos: 2)) == .gone)
        #expect(try test.store.perform(test.store.seal(id, operations: 300, photos: 600)) == .gone)
        #expect(try test.store.perform(test.store.submit(id, BatchOptions())) == .forgotten)

        // Every claim also does one step of the removal of forgotten batches.
        let (operations, next) = try test.claimed(repeated)
        #expect(operations.isEmpty && next.isEmpty)
        #expect(try test.state().batches[id]?.executing.count == 50)

        #expect(try test.store.perform(forget) == .forgotten)
        #expect(try test.store.perform(forget) == .gone)
        try expectNothingLeft(test)
        let lost = try test.heartbeat("worker", held: held)
        #expect(
            Set(lost) == Set(held.map { HeldOperation(batch: id, number: $0.number, fencingToken: $0.fencingToken) }))
    }

    @Test func rejectsASubmitOfAForgottenBatch() throws {
        let test = try TestStore()
        let id = try test.submit("batch", operations: 1)
        #expect(try test.store.perform(test.store.forget(id, unfinished: true)) == .forgotten)
        #expect(try test.store.perform(test.store.submit(id, BatchOptions())) == .forgotten)
        #expect(try test.store.facts(of: id) == nil)

        // Redis keeps the latest 10,000 forgotten ids.
        let older = (1...10_000).flatMap { ["\($0)", "older \($0)"] }
        let words = ["ZADD", test.store.keys.forgotten] + older
        _ = try test.store.connection.call(RedisCommand(arguments: words.map { Array($0.utf8) }))
        let next = try test.submit("next", operations: 1)
        #expect(try test.store.perform(test.store.forget(next, unfinished: true)) == .forgotten)
        #expect(try test.command("ZCARD", test.store.keys.forgotten) == .integer(10_000))
        #expect(try test.store.perform(test.store.submit(id, BatchOptions())) == .forgotten)
        #expect(try test.command("ZSCORE", test.store.keys.forgotten, "older 1") == .null)
        #expect(try test.command("ZSCORE", test.store.keys.forgotten, "older 10000") != .null)
    }

    @Test func heartbeatsContinueForgetting() throws {
        let test = try TestStore()
        let (id, _) = try large(test)
        #expect(try test.store.perform(test.store.forget(id, unfinished: true)) == .more)
        #expect(try test.claim().isEmpty)
        try test.heartbeat()
        try expectNothingLeft(test)
    }

    @Test func leaseExpiryDoesNotRestoreABatchBeingForgotten() throws {
        let test = try TestStore()
        let (id, _) = try large(test)
        #expect(try test.store.perform(test.store.forget(id, unfinished: true)) == .more)
        try test.pass(seconds: 16)
        try test.heartbeat()
        #expect(try test.command("ZCARD", test.store.keys.queue(id)) == .integer(50))
        for _ in 1...4 { try test.heartbeat() }
        try expectNothingLeft(test)
    }

    @Test func forgetsAFinishedBatchAfterItsRetentionWithoutAWorker() throws {
        let test = try TestStore()
        let day = try test.submit("day", operations: 1)
        let ever = try test.submit("ever", operations: 1) { $0.retain = nil }
        for operation in try test.claim() { try test.report(operation.held, "FFa") }
        let finished = try #require(try test.batch(day).finished)
        #expect(try test.state().expiring == [day: finished + 24 * 3_600_000])
        try test.heartbeat()
        #expect(try test.state().batches.count == 2)
        // The clock of Redis jumps ten years forward, but the retention clock advances by only six hours.
        let jump = 10 * 365 * 24 * 3_600_000
        try test.command("HINCRBY", test.store.keys.control, "seen", "-\(jump)")
        try test.command("ZADD", test.store.keys.expiring, "\(finished)", "\(day)")
        try test.heartbeat()
        #expect(try test.state().batches.count == 2)
        let left = try #require(try test.state().expiring[day]) - test.store.time()
        #expect(left > 17 * 3_600_000 && left <= 18 * 3_600_000)
        // Four heartbeats, 6 hours apart, advance the retention clock by a day.
        for _ in 1...4 {
            try test.command("HINCRBY", test.store.keys.control, "seen", "-\(6 * 3_600_000)")
            try test.heartbeat()
        }
        try test.command("ZADD", test.store.keys.expiring, "\(finished)", "\(day)")
        try test.heartbeat()
        #expect(try test.state().batches.keys.sorted() == [ever])
        #expect(try test.store.perform(test.store.forget(ever)) == .forgotten)
        try expectNothingLeft(test)
    }

    /// A heartbeat forgets up to 10 batches, and says that there are more.
    @Test func forgetsAllBatchesThatAreDue() throws {
        let test = try TestStore()
        let ids = try (1...25).map { try test.submit("batch-\($0)", operations: 0) }
        for id in ids {
            try test.command("ZADD", test.store.keys.expiring, "0", "\(id)")
            try test.command("HSET", test.store.keys.batch(id), "expires", "0")
        }
        let more = try (1...3).map { _ in try test.store.perform(test.store.heartbeat(worker: nil)).hasMore }
        #expect(more == [true, true, false])
        #expect(try test.state().batches.isEmpty)
    }

    @Test func keepsAFinishedBatchFor30SecondsAndUntilItsWebhookIsDelivered() throws {
        let test = try TestStore()
        let plain = try test.submit("plain", operations: 1) { $0.retain = .zero }
        let hooked = try test.submit("hooked", operations: 1) {
            $0.retain = .zero
            $0.webhook = "https://hooks.example.org/"
        }
        for operation in try test.claim() { try test.report(operation.held, "FFa") }
        let end = try #require(try test.batch(plain).finished)
        let hookedEnd = try #require(try test.batch(hooked).finished)
        #expect(try test.state().expiring == [plain: end + 30_000, hooked: hookedEnd + 24 * 3_600_000])

        let reply = try test.store.perform(test.store.heartbeat(worker: nil))
        let due = try #require(reply.webhooks.first)
        let taken = try test.store.perform(test.store.takeWebhook(due, for: .seconds(60)))
        guard case .taken(_, let score) = taken else { throw TestFailure(description: "\(taken)") }
        #expect(try test.store.perform(test.store.endWebhookAttempt(due.member, score: score, retryAfter: nil)))
        #expect(try test.state().expiring == [plain: end + 30_000, hooked: hookedEnd + 30_000])
    }
}
