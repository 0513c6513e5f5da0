import DarkroomHosts
import DarkroomModel
import DarkroomRedis
import DarkroomTestSupport
import FuzzSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

/// Tests the shares of workers in a host.
@Suite(.redisServer) struct SharedHostsTests {
    let test: TestStore

    init() throws { test = try TestStore() }

    private func share(
        _ worker: String, running: Int = 0, wanted: Int, limit: Int = 8, most: Int = 100,
        _ change: (inout HostUse) -> Void = { _ in }
    ) throws -> HostShare {
        var use = HostUse(host: "photos.example", limit: limit, most: most)
        (use.running, use.wanted) = (running, wanted)
        change(&use)
        return try test.store.perform(test.store.shareHosts(worker: worker, [use]))[0]
    }

    private func set(_ field: String, _ value: String) throws {
        let key = test.store.keys.host("photos.example")
        _ = try test.store.connection.call(RedisCommand("HSET", key, field, value))
    }

    @Test func oneWorkerGetsWhatItWants() throws {
        #expect(try share("a", wanted: 3).permits == 3)
        var all = HostShare(permits: 8)
        all.limit = 8
        #expect(try share("a", running: 3, wanted: 20) == all)
        #expect(try share("a", wanted: 20, most: 5).permits == 5)
        _ = try test.state()
    }

    @Test func laterWorkerGetsItsShare() throws {
        #expect(try share("first", wanted: 20).permits == 8)
        let late = try share("late", wanted: 20)
        #expect(late.permits == 0)
        #expect(late.isContended)
        // The first worker still has 8 requests under way, and then 4.
        #expect(try share("first", running: 8, wanted: 20).permits == 4)
        #expect(try share("late", wanted: 20).permits == 0)
        #expect(try share("first", running: 4, wanted: 20).permits == 4)
        #expect(try share("late", wanted: 20).permits == 4)
        let share = try share("first", running: 4, wanted: 20)
        #expect(share.permits == 4)
        #expect(!share.isContended)
    }

    @Test func whatOneWorkerDoesNotNeedIsForOthers() throws {
        #expect(try share("few", wanted: 1).permits == 1)
        #expect(try share("many", wanted: 20).permits == 7)
        #expect(try share("few", wanted: 0).permits == 0)
        #expect(try share("many", running: 7, wanted: 20).permits == 8)
    }

    @Test func permitsOfALostWorkerEnd() throws {
        #expect(try share("lost", wanted: 20).permits == 8)
        #expect(try share("other", wanted: 20).permits == 0)
        // As if the last call of the lost worker, and the last look at the entries, were seven seconds ago.
        let time = try #require(try test.store.connection.call(RedisCommand("TIME")).array?.first?.int)
        try set("worker:lost", "8 0 0 \(time * 1000 - 7000) 100")
        try set("shared", "8 0 100 8 1 2 \(time * 1000 - 7000) 0 0 ")
        let other = try share("other", wanted: 20)
        #expect(other.permits == 8)
        #expect(other.users == 1)
    }

    @Test func moreWorkersThanPermitsTakeTurns() async throws {
        var had: Set<Int> = []
        let deadline = ContinuousClock.now + .seconds(60)
        while had.count < 5, .now < deadline {
            var sum = 0
            for worker in 0..<5 {
                let permits = try share("w\(worker)", wanted: 9, limit: 2).permits
                sum += permits
                if permits > 0 { had.insert(worker) }
            }
            #expect(sum <= 2)
            // A worker's turn ends by the clock of Redis, after a second. Nothing signals it, so workers ask again and again.
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(had == [0, 1, 2, 3, 4])
    }

    /// Workers that ask at random times and send as many requests as they may: all together never more than the limit.
    @Test(arguments: 1...10 as ClosedRange<UInt64>) func randomWorkersKeepTheLimit(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var running = Array(repeating: 0, count: 6)
        var permits = running
        for _ in 0..<400 {
            let worker = Int.random(in: 0..<6, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: running[worker] = Int.random(in: 0...running[worker], using: &random)
            case 1: running[worker] = max(running[worker], permits[worker])
            default:
                let wanted = running[worker] + Int.random(in: 0...3, using: &random)
                permits[worker] = try share("w\(worker)", running: running[worker], wanted: wanted).permits
            }
            #expect(running.reduce(0, +) <= 8)
        }
        _ = try test.state()
    }

    @Test func stateOfAHostIsForAll() throws {
        #expect(try share("a", wanted: 2).state == nil)
        let down = try share("a", running: 1, wanted: 2) {
            $0.state = .troubled(.down, since: .seconds(2), next: .seconds(3), count: 2)
            $0.answered = .seconds(40)
        }
        #expect(down.permits == 1)
        let other = try share("b", wanted: 5)
        #expect(other.permits == 0)
        #expect(other.version == down.version)
        guard case .troubled(.down, let since, let next, 2) = other.state else {
            Issue.record("\(String(describing: other.state))")
            return
        }
        #expect(since >= .seconds(2))
        #expect(next <= .milliseconds(3001))
        #expect(try #require(other.answered) >= .seconds(40))
        _ = try share("a", wanted: 2) { $0.state = .up }
        let up = try share("b", wanted: 5)
        #expect(up.state == .up)
        #expect(up.version > other.version)
        #expect(up.permits == 5)
    }

    @Test func pauseOnlyGrows() throws {
        for seconds in [60, 5] {
            _ = try share("a", wanted: 1) {
                $0.state = .troubled(.paused, since: .zero, next: .seconds(seconds), count: 1)
            }
        }
        guard case .troubled(.paused, _, let next, 1)? = try share("b", wanted: 1).state else {
            Issue.record("the host is not paused")
            return
        }
        #expect(next > .seconds(30))
    }

    @Test func limitAndRateAreMerged() throws {
        _ = try share("a", wanted: 1) { $0.limitChange = .raised(to: 12) }
        #expect(try share("b", wanted: 1).limit == 12)
        _ = try share("b", wanted: 1) {
            $0.limitChange = .lowered(to: 6)
            $0.rateChange = .lowered(to: 20_000)
        }
        let share = try share("a", wanted: 1) { $0.limitChange = .lowered(to: 11) }
        #expect(share.limit == 6)
        #expect(share.rate == 20_000)
    }

    /// A worker whose own network is down does not stop the others.
    @Test func hostThatAnswersOthersIsNotDown() throws {
        _ = try share("good", running: 2, wanted: 2) { $0.answered = .milliseconds(100) }
        let down = SharedHostState.troubled(.down, since: .zero, next: .seconds(1), count: 1)
        func report(answered: Duration) throws -> HostShare {
            try share("bad", wanted: 2) { ($0.state, $0.answered) = (down, answered) }
        }
        #expect(try report(answered: .seconds(30)).state == nil)
        #expect(try share("good", wanted: 2).state == nil)
        guard case .troubled(.down, _, _, 1)? = try report(answered: .milliseconds(200)).state else {
            Issue.record("the host is not down")
            return
        }
    }

    /// The smallest limit of all workers holds for all together, and the worker that has it gets permits.
    @Test func smallestLimitOfAWorkerHolds() throws {
        #expect(try share("many", wanted: 8, limit: 8, most: 8).permits == 8)
        #expect(try share("few", wanted: 8, limit: 2, most: 2).permits == 0)
        #expect(try share("many", running: 8, wanted: 8, limit: 8, most: 8).permits <= 1)
        #expect(try share("many", running: 0, wanted: 8, limit: 8, most: 8).permits <= 1)
        #expect(try share("few", wanted: 8, limit: 2, most: 2).permits == 1)
    }

    /// Whatever another program writes into a host, workers get permits again and nothing grows.
    @Test func damagedHostsAreMended() throws {
        let values = [
            "", "x", "-1", "1e300", "0 0 0 0 0 0 0 0 0 ", "0.5 0 100 0 0 0 0 0 0 up", "nan 0 1 1 1 1 1 1 1 up",
            "8 0 100 99999999999999999999 0 1 99999999999999 0 0 ", "8 0 100 0 0 0 0 0 1 down 9e9 x 1",
            "8 0 100 0 0 0 0 0 1 paused 1 99999999999999999 3", "8 0 100 0 0 0 0 0 1 slow 1 1 1",
            "8 0 100 0 0 0 0 0 99999999999999999999 up",
        ]
        for value in values {
            for field in ["shared", "worker:a", "worker:stranger"] {
                _ = try share("a", wanted: 3)
                try set(field, value)
                #expect((0...8).contains(try share("a", wanted: 3).permits), "\(field) = \(value)")
                try set("shared", "8 0 100 0 0 0 0 0 0 ")
                #expect(try share("a", wanted: 3).permits == 3, "\(field) = \(value)")
            }
        }
        for value in values where value != "" {
            try set("shared", value)
            #expect(try share("a", wanted: 3).permits == 3, "\(value)")
        }
        let key = test.store.keys.host("photos.example")
        _ = try test.store.connection.call(RedisCommand("DEL", key))
        _ = try test.store.connection.call(RedisCommand("SADD", key, "x"))
        #expect(try share("a", wanted: 3).permits == 3)
    }

    @Test func manyHostsAtOnce() throws {
        let uses = (0..<BatchStore.hostsAtOnce).map {
            var use = HostUse(host: "\($0)." + String(repeating: "a", count: 200), limit: 4, most: 100)
            use.wanted = 2
            return use
        }
        let shares = try test.store.perform(test.store.shareHosts(worker: "a", uses))
        #expect(shares.map(\.permits) == Array(repeating: 2, count: BatchStore.hostsAtOnce))
        let ends = try test.store.connection.call(RedisCommand("PTTL", test.store.keys.host(uses[7].host))).int
        #expect((1...20_000).contains(try #require(ends)))
    }

    /// During the pause, all operations with photos of the host may be deferred, so that no worker uses it.
    @Test(arguments: [(1800, 1920), (31_536_000, 3720)]) func pauseIsRememberedUntilItsEnd(pause: Int, kept: Int) throws
    {
        _ = try share("a", wanted: 1) {
            $0.state = .troubled(.paused, since: .zero, next: .seconds(pause), count: 1)
        }
        let ends = try test.store.connection.call(RedisCommand("PTTL", test.store.keys.host("photos.example"))).int
        #expect(((kept - 30) * 1000...(kept + 1) * 1000).contains(try #require(ends)))
    }
}
