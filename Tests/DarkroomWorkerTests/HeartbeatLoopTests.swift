import DarkroomModel
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Testing

@testable import DarkroomCoordination
@testable import DarkroomWorker

struct HeartbeatLoopTests {
    /// After a pause of Redis, the connection retries at least every 0.5 s (BackoffTests), and the lease clock has
    /// advanced by at most 3 s (clocks.lua). Another 0.5 s is a margin for a busy machine.
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
        var configuration = WorkerConfiguration()
        configuration.transfer.allowPrivate = true
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
        // The heartbeats of another worker advance the lease clock, so that leases can expire.
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

    @Test func sendsAHeartbeatEvery3SecondsWithTheDefaultLeaseAndWithoutOperations() {
        #expect(HeartbeatLoop.interval(shortestLease: nil) == .seconds(3))
        #expect(HeartbeatLoop.interval(shortestLease: .seconds(15)) == .seconds(3))
        #expect(HeartbeatLoop.interval(shortestLease: .seconds(600)) == .seconds(3))
    }
}
