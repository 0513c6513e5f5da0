import DarkroomModel
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Testing

@testable import DarkroomWorker

struct HeartbeatLoopTests {
    /// After a pause of Redis, the connection retries at least every 0.5 s (BackoffTests), and the lease clock has
    /// advanced by at most 3 s (advance_clocks.lua). Another 0.5 s is a margin for a busy machine.
    @Test(arguments: [6, 7, 15, 60]) func pauseOfRedisIsShorterThanALease(seconds: Int) {
        let lease = Duration.seconds(seconds)
        let renewed = HeartbeatLoop.interval(shortestLease: lease)
        let back = HeartbeatLoop.retryInterval + .milliseconds(500)
        #expect(renewed + .seconds(3) + back + .milliseconds(500) < lease)
        #expect(renewed + HeartbeatLoop.replyTimeout + back + .milliseconds(500) < lease)
    }

    /// If the server loses power or a firewall drops the connection, the worker sees no close.
    @Test(.timeLimit(.minutes(5))) func keepsLeasesWhenAConnectionBreaksWithoutAClose() throws {
        let port = try RedisServer.freePort()
        let server = try RedisServer(port: port)
        defer { server.stop() }
        let darkroom = try Darkroom(server)
        let toRedis = try TCPProxy(to: port)
        let toPhotos = try TCPProxy(to: port)
        toPhotos.freeze()  // the download never ends
        defer {
            toRedis.close()
            toPhotos.close()
        }
        var configuration = PhotoWorkerConfiguration()
        configuration.downloadRules.allowsPrivateAddresses = true
        let worker = try Worker(
            redis: try RedisConfiguration(url: "redis://127.0.0.1:\(toRedis.port)"), keys: darkroom.keys,
            configuration: configuration)
        try worker.start()
        let id = try darkroom.submit(
            ["http://127.0.0.1:\(toPhotos.port)/a.jpg"], darkroom.options { $0.lease = .seconds(6) })
        try darkroom.wait(id, "executing") { $0.executing == 1 }
        let holder = try darkroom.store.connection.call(.init("HGET", darkroom.keys.executing(id), "1"))
        toRedis.freeze()
        toRedis.thaw()
        // Time itself is tested: a lease and a half passes. The heartbeats of another worker advance the lease clock, so that
        // leases can expire.
        let end = ContinuousClock.now + .seconds(9)
        while .now < end {
            _ = try darkroom.store.perform(darkroom.store.heartbeat(worker: "other"))
            _ = try darkroom.store.connection.call(.init("BLPOP", darkroom.keys.prefix + "nothing", "0.2"))
        }
        #expect(try darkroom.store.connection.call(.init("HGET", darkroom.keys.executing(id), "1")) == holder)
        #expect(try darkroom.store.connection.call(.init("HLEN", darkroom.keys.leaseExpiries(id))) == .integer(0))
        worker.leave()
        worker.wait()
    }

    @Test(arguments: [(0, 3), (1, 3), (6, 3), (10, 5), (24, 12), (1000, 12)])
    func idleWorkersRestLongerTheMoreThereAre(workers: Int, seconds: Int) {
        #expect(HeartbeatLoop.rest(workers: workers) == .seconds(seconds))
    }

    // MARK: - Facts

    private let facts = [(field: "host", value: "a"), (field: "rate", value: "5")]

    @Test func onlyChangedFactsAreSent() {
        var sent = SentFacts()
        let first = sent.message(facts, isIdle: false)
        #expect(first.facts.map(\.field) == ["host", "rate", "interval"])
        sent.sent(first, workers: 100)
        #expect(sent.message(facts, isIdle: false).facts.isEmpty)
        let changed = sent.message([facts[0], (field: "rate", value: "6")], isIdle: false)
        #expect(changed.facts.map(\.field) == ["rate"])
        // A lost reply: the same facts are sent again.
        #expect(sent.message([facts[0], (field: "rate", value: "6")], isIdle: false).facts.map(\.field) == ["rate"])
        sent.forget()
        #expect(sent.message(facts, isIdle: false).facts.count == 3)
    }

    @Test func allFactsAreSentAgainAfterAMinute() {
        var sent = SentFacts()
        let now = ContinuousClock.now
        sent.sent(sent.message(facts, isIdle: true, now), workers: 100, now)
        sent.sent(sent.message(facts, isIdle: true, now + .seconds(30)), workers: 100, now + .seconds(30))
        #expect(sent.message(facts, isIdle: true, now + .seconds(59)).facts.isEmpty)
        #expect(sent.message(facts, isIdle: true, now + .seconds(60)).facts.count == 3)
    }

    @Test func aWorkerTellsThatItRestsWhenItsFactsNoLongerChange() {
        var sent = SentFacts()
        sent.sent(sent.message(facts, isIdle: true), workers: 100)
        let resting = sent.message(facts, isIdle: true)
        #expect(resting.rest == .seconds(12))
        #expect(resting.facts.map(\.value) == ["12000"])
        sent.sent(resting, workers: 100)
        #expect(sent.message(facts, isIdle: false).rest == nil)
        #expect(sent.message(facts, isIdle: false).facts.map(\.value) == ["3000"])
        #expect(sent.message([facts[0], (field: "rate", value: "6")], isIdle: true).rest == nil)
    }

    @Test func sendsAHeartbeatEvery3SecondsWithTheDefaultLeaseAndWithoutOperations() {
        #expect(HeartbeatLoop.interval(shortestLease: nil) == .seconds(3))
        #expect(HeartbeatLoop.interval(shortestLease: .seconds(15)) == .seconds(3))
        #expect(HeartbeatLoop.interval(shortestLease: .seconds(600)) == .seconds(3))
    }
}
