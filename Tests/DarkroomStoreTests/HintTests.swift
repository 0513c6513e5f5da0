import DarkroomModel
import DarkroomRedis
import DarkroomTestSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

@Suite(.redisServer) struct HintTests {
    @Test func aBatchThatEntersARingSaysSo() throws {
        let test = try TestStore()
        for worker in ["one", "two"] { try test.heartbeat(worker) }
        let listener = try Listener(test.store)
        defer { listener.close() }
        func hints() throws -> [String] { try listener.upToNow().hints.map(\.text) }
        let id = try test.submit(sealed: false)
        #expect(try hints() == [])
        _ = try test.store.perform((1...5).map { test.feeding(id, $0, photos: 3) })
        #expect(try hints() == [#"{"change":"work","workers":2,"priority":"normal"}"#])

        // Not again within 100 ms, then again.
        let held = try test.claim().map(\.held)
        let justNow = """
            local clock = redis.call('TIME')
            redis.call('HSET', KEYS[1], 'hinted.normal', clock[1] * 1000 + math.floor(clock[2] / 1000))
            """
        let calls = [
            RedisCommand("EVAL", justNow, "1", test.store.keys.control),
            test.store.handback(held[0], worker: "worker").command,
        ]
        for result in test.store.connection.call(calls) { _ = try result.get() }
        #expect(try hints() == [])
        _ = try test.claim()
        try test.command("HINCRBY", test.store.keys.control, "hinted.normal", "-100")
        _ = try test.store.perform(test.store.handback(held[1], worker: "worker"))
        #expect(try hints() == [#"{"change":"work","workers":3,"priority":"normal"}"#])
    }

    @Test func theEndOfABatchThatOthersWaitForIsHintedAtSoThatTheyAreReleased() throws {
        let test = try TestStore()
        let first = try test.submit("first", operations: 1)
        let second = try test.submit("second", operations: 1)
        let version = try test.store.dependencyVersion()
        _ = try test.store.perform(test.store.depend(second, on: first, version: version))
        let held = try test.claim()[0].held
        let listener = try Listener(test.store)
        defer { listener.close() }
        try test.report(held, "FFF")
        #expect(try listener.upToNow().hints.map(\.text) == [#"{"change":"work","workers":1,"priority":"veryHigh"}"#])
        #expect(try test.claim().map(\.held.batch) == [second])
    }
}
