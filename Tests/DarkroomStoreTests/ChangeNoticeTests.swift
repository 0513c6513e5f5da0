import DarkroomModel
import DarkroomRedis
import DarkroomTestSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

@Suite(.redisServer) struct ChangeNoticeTests {
    @Test func batchThatBecomesReadySendsANotice() throws {
        let test = try TestStore()
        for worker in ["one", "two"] { try test.heartbeat(worker) }
        let listener = try Listener(test.store)
        defer { listener.close() }
        func notices() throws -> [String] { try listener.upToNow().notices.map(\.text) }
        let id = try test.submit(sealed: false)
        #expect(try notices() == [])
        _ = try test.store.perform((1...5).map { test.feeding(id, $0, photos: 3) })
        #expect(try notices() == [#"{"change":"work","workers":2,"priority":"normal","operations":1}"#])

        // Redis sends at most one notice per 100 ms.
        let held = try test.claim().map(\.held)
        let justNow = """
            local clock = redis.call('TIME')
            redis.call('HSET', KEYS[1], 'notified.normal', clock[1] * 1000 + math.floor(clock[2] / 1000))
            """
        let calls = [
            RedisCommand("EVAL", justNow, "1", test.store.keys.control),
            test.store.release(held[0], worker: "worker").command,
        ]
        for result in test.store.connection.call(calls) { _ = try result.get() }
        #expect(try notices() == [])
        _ = try test.claim()
        try test.command("HINCRBY", test.store.keys.control, "notified.normal", "-100")
        _ = try test.store.perform(test.store.release(held[1], worker: "worker"))
        #expect(try notices() == [#"{"change":"work","workers":3,"priority":"normal","operations":1}"#])
    }

    @Test func endOfADependencySendsANotice() throws {
        let test = try TestStore()
        let first = try test.submit("first", operations: 1)
        let second = try test.submit("second", operations: 1)
        let version = try test.store.dependencyVersion()
        _ = try test.store.perform(test.store.addDependency(second, on: first, version: version))
        let held = try test.claim()[0].held
        let listener = try Listener(test.store)
        defer { listener.close() }
        try test.report(held, "FFF")
        let notice = #"{"change":"work","workers":1,"priority":"veryHigh","operations":1}"#
        #expect(try listener.upToNow().notices.map(\.text) == [notice])
        #expect(try test.claim().map(\.held.batch) == [second])
    }

    @Test func releaseOfARefusedOperationSendsNoNotice() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        let held = try test.claim()[0].held
        try test.command("HDEL", test.store.keys.control, "notified.normal")
        let listener = try Listener(test.store)
        defer { listener.close() }
        let release = test.store.release(held, worker: "worker", isRefused: true)
        #expect(try test.store.perform(release) == .queued)
        #expect(try listener.upToNow().notices.map(\.text) == [])
        #expect(try test.state().readyQueues[.normal]?.inTurn == [id], "the batch must stay in its ready queue")
    }

    @Test func claimOfAnIdleWorkerSendsANoticeForTheRest() throws {
        let test = try TestStore()
        try test.submit(operations: 40)
        try test.command("HSET", test.store.keys.control, "notified.normal", "0")
        let listener = try Listener(test.store)
        defer { listener.close() }
        func notices() throws -> [Int?] { try listener.upToNow().notices.map { $0.int("operations") } }
        let held = try test.claim("one", operations: 2).map(\.held)
        #expect(try notices() == [38])
        _ = try test.claim("one", operations: 2, held: held)
        try test.command("HSET", test.store.keys.control, "notified.normal", "0")
        _ = try test.claim("one", operations: 2, held: held)
        #expect(try notices() == [], "a worker that holds operations is not idle")
    }

    @Test func sendsANoticeAtOnceOnlyIfMoreWorkIsReady() throws {
        let test = try TestStore()
        let justNow = """
            local clock = redis.call('TIME')
            local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
            redis.call('HSET', KEYS[1], 'notified.normal', now, 'notified.operations.normal', ARGV[1])
            """
        try test.submit(operations: 40)
        let listener = try Listener(test.store)
        defer { listener.close() }
        for (offered, expected) in [(10, [38]), (20, [])] {
            let setting = RedisCommand("EVAL", justNow, "1", test.store.keys.control, String(offered))
            let claim = test.store.claim(worker: "w\(offered)", number: 1, operations: 2).command
            for result in test.store.connection.call([setting, claim]) { _ = try result.get() }
            #expect(try listener.upToNow().notices.map { $0.int("operations") } == expected)
        }
    }

    @Test func fruitlessClaimOfAnIdleWorkerSendsANotice() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 2)
        let listener = try Listener(test.store)
        defer { listener.close() }
        var number = 0
        /// Claims for another worker, and returns the time after which it claims again, and the notices.
        func idle(
            refusals: RefusalChanges = .init(), without: [BatchID] = [], focus: BatchID? = nil,
            held: [HeldOperation] = []
        ) throws -> (again: Duration?, notices: [String]) {
            number += 1
            try test.command("HDEL", test.store.keys.control, "notified.idle")
            _ = try listener.upToNow()
            let call = test.store.claim(
                worker: "idle", number: number, focus: focus, refusals: refusals, without: without, held: held)
            guard case .claimed(let claimed) = try test.store.perform(call) else {
                throw TestFailure(description: "the reply to the claim is OLD")
            }
            return (claimed.again, try listener.upToNow().notices.map(\.text))
        }
        let held = try test.claim("busy", operations: 1).map(\.held)
        _ = try test.claim("busy", operations: 1, held: held)
        #expect(try idle() == (.milliseconds(520), [#"{"change":"idle","workers":2}"#]))

        // This worker may be unable to run what others release, or it is not idle.
        #expect(try idle(refusals: RefusalChanges(added: [id])) == (nil, []))
        #expect(try idle(refusals: RefusalChanges(replacesAll: true), without: [id]) == (nil, []))
        #expect(try idle(focus: id) == (nil, []))
        #expect(try idle(held: held) == (nil, []))
        #expect(try idle().notices.count == 1)
        _ = try test.store.perform(test.store.suspend(nil, .downloads, true))
        #expect(try idle() == (nil, []))
        _ = try test.store.perform(test.store.suspend(nil, .downloads, false))
        // One operation cannot be shared.
        try test.report(held[0], "FFF", worker: "busy")
        #expect(try idle() == (nil, []))
        _ = try test.state()
    }

    /// With three workers, the next notice is published after 106 ms. Wrong times count as none.
    @Test(arguments: [("now", false), ("now - 40", false), ("now - 200", true), ("now + 5000", true), ("'x'", true)])
    func limitsTheNoticesOfIdleWorkers(last: String, isDue: Bool) throws {
        let test = try TestStore()
        try test.submit(operations: 2)
        _ = try test.claim("busy", operations: 2)
        _ = try test.claim("idle")
        let listener = try Listener(test.store)
        defer { listener.close() }
        let setting = """
            local clock = redis.call('TIME')
            local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
            redis.call('HSET', KEYS[1], 'notified.idle', \(last))
            """
        let calls = [
            RedisCommand("EVAL", setting, "1", test.store.keys.control),
            test.store.claim(worker: "third", number: 1).command,
        ]
        for result in test.store.connection.call(calls) { _ = try result.get() }
        #expect(try listener.upToNow().notices.count == (isDue ? 1 : 0))
    }

    @Test func doesNotCountSilentWorkers() throws {
        let test = try TestStore()
        for worker in ["one", "two", "lost"] { try test.heartbeat(worker) }
        try test.command("ZINCRBY", test.store.keys.workers, "-31000", "lost")
        let listener = try Listener(test.store)
        defer { listener.close() }
        try test.submit(operations: 1)
        #expect(try listener.upToNow().notices.map { $0.int("workers") } == [2])
    }
}
