import DarkroomModel
import DarkroomTestSupport
import ErrorExpectations
import Testing

@testable import DarkroomStore
@testable import StoreInspection

/// If Redis has no free memory, every call that frees memory still works.
@Suite(.serialized, .redisServer) struct FullRedisTests {
    @Test func finishesAndForgetsABatchInAFullRedis() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 3, sealed: false)
        let claimed = try test.claim(operations: 1)[0]
        try test.command("HSET", test.store.keys.batch(id), "feeder.seen", "1")
        try test.command("CONFIG", "SET", "maxmemory", "1")
        defer { _ = try? test.command("CONFIG", "SET", "maxmemory", "0") }

        let feed = expectError(StoreError.self) { try test.store.perform(test.feeding(id, 4, photos: 3)) }
        #expect(feed?.redis?.serverErrorName == "OOM")
        let submit = expectError(StoreError.self) { try test.submit("another") }
        #expect(submit?.redis?.serverErrorName == "OOM")
        #expect(try test.state().batches.count == 1)

        // The heartbeat of a feeder succeeds, so the feeder is not reported as silent.
        #expect(try test.store.perform(test.store.feederHeartbeat(id)))
        #expect(try #require(try test.store.facts(of: id)).feederSeen > 1)
        #expect(try !test.store.perform(test.store.feederHeartbeat(BatchID("none"))))

        // A newly connected worker can claim.
        let late = BatchStore(RedisServer.current.configuration, keys: test.store.keys)
        defer { late.connection.close() }
        let reply = try late.perform(late.claim(worker: "late", number: 1))
        guard case .claimed(let reclaimed) = reply else { throw TestFailure(description: "\(reply)") }
        let rest = reclaimed.operations
        #expect(rest.map(\.held.number) == [2, 3])
        let heartbeat = late.heartbeat(worker: "late", facts: [("host", "here")], held: rest.map(\.held))
        #expect(try late.perform(heartbeat).lost.isEmpty)
        #expect(try late.perform(late.release(rest[1].held, worker: "late")) == .queued)
        #expect(try test.report(rest[0].held, "FaF", worker: "late") == .accepted(ended: true, stateCodes: nil))
        try test.report(claimed.held, "FFF")
        try test.report(try test.claim()[0].held, "FFF")
        #expect(try test.store.perform(test.store.seal(id, operations: 3, photos: 9)) == .sealed)
        #expect(try test.batch(id).state == .finished)
        #expect(try test.store.perform(test.store.expireLeases()) == false)
        #expect(try test.store.perform(test.store.forget(id)) == .forgotten)
        try test.store.perform(test.store.leave(worker: "late"))
    }

    /// The check of a batch needs a copy of its state codes. The check waits until there is room, and never keeps its copy
    /// in a Redis that is full.
    @Test func checkOfABatchFreesItsCopy() throws {
        let test = try TestStore()
        let id = try test.submit(size: 100, operations: 100)
        let store = test.store
        #expect(try !store.repair(steps: 1000).hasMore)
        try test.command("ZREM", store.keys.queue(id), "2")
        _ = try store.perform(store.repair(id))
        #expect(try test.command("EXISTS", store.keys.repairStates) == .integer(1))
        try test.command("CONFIG", "SET", "maxmemory", "1")
        defer { _ = try? test.command("CONFIG", "SET", "maxmemory", "0") }
        let steps = try store.repair(steps: 1000)
        #expect(!steps.hasMore && steps.repaired == [id] && steps.skipped == [])
        #expect(try test.command("EXISTS", store.keys.repairStates) == .integer(0))
        // A new check does not begin.
        try test.command("ZREM", store.keys.queue(id), "2")
        #expect(try store.repair([id], steps: 1000).repaired == [])
        #expect(try test.command("EXISTS", store.keys.repairStates) == .integer(0))
        try test.command("CONFIG", "SET", "maxmemory", "0")
        // It begins after a minute, also if the counters agree. Each call compares the counters of some batches.
        try test.command("ZADD", store.keys.queue(id), "2", "2")
        try test.command("SETRANGE", store.keys.states(id), "0", "F")
        #expect(try store.repair(steps: 1000).repaired == [])
        try test.command("HINCRBY", store.keys.repairRound, "postponed.time", "-60000")
        #expect(try (1...2).flatMap { _ in try store.repair(steps: 1000).repaired } == [id])
    }

    @Test func sendsScriptsAgainThatRedisLost() throws {
        let test = try TestStore()
        try test.submit(operations: 2)
        try test.command("SCRIPT", "FLUSH")
        let held = try test.claim().map(\.held)
        #expect(held.count == 2)
        try test.command("SCRIPT", "FLUSH")
        let reports = held.map {
            test.store.report($0, worker: "worker", stateCodes: Array("FFF".utf8), bytesIn: 0, bytesOut: 0)
        }
        #expect(try test.store.perform(reports) == Array(repeating: .accepted(ended: true, stateCodes: nil), count: 2))
    }
}
