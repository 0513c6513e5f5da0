import DarkroomConcurrency
import DarkroomRedis
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

/// Slow networks, cut connections and peers that stop silently. A proxy in front of a real server causes these faults.
@Suite final class RedisNetworkTests {
    let redis: RedisServer
    let proxy: TCPProxy
    let configuration: RedisConfiguration
    /// The same configuration with a reply timeout of 2 s, for tests in which no reply arrives.
    let shortTimeout: RedisConfiguration

    init() throws {
        let port = try RedisServer.freePort()
        redis = try RedisServer(port: port)
        proxy = try TCPProxy(to: port)
        configuration = try RedisConfiguration(url: "redis://127.0.0.1:\(proxy.port)")
        var shortTimeout = configuration
        shortTimeout.replyTimeout = .seconds(2)
        self.shortTimeout = shortTimeout
    }

    deinit {
        proxy.close()
        redis.stop()
    }

    @Test func silentPeerTimesOutAndIsReplaced() throws {
        let connection = RedisConnection(shortTimeout)
        try connection.connect()
        proxy.freeze()
        let began = ContinuousClock.now
        let error = try requireError(RedisError.self) { try connection.call(RedisCommand("PING")) }
        #expect(error.code == .timedOut && error.isPassing)
        #expect(began.duration(to: .now) < .seconds(20))
        proxy.thaw()
        #expect(try connection.call(RedisCommand("PING")) == .status("PONG"))
        #expect(proxy.accepted == 2)
    }

    /// A successful write does not show that the peer is reachable, because the socket accepts bytes while its buffer
    /// has room.
    @Test func silentPeerTimesOutWhileOthersKeepSending() throws {
        let connection = RedisConnection(shortTimeout)
        try connection.connect()
        proxy.freeze()
        let began = ContinuousClock.now
        let failed = Latch()
        while !failed.isSet, .now - began < .seconds(30) {
            connection.send([RedisCommand("PING")]) { results in
                if case .failure(let error) = results[0], error.code == .timedOut { failed.set() }
            }
            usleep(100_000)  // well within the reply timeout of the previous command
        }
        #expect(failed.isSet, "the first command did not time out while others were sent")
    }

    @Test func subscriptionTimesOutOnASilentPeer() throws {
        let events = SubscriptionEvents()
        let subscription = RedisSubscription(shortTimeout, channels: ["c"], onEvent: events.add)
        defer { subscription.close() }
        #expect(try events.next() == .subscribed)
        // Other tests may use all cores for a moment, so a slow attempt is repeated.
        var times: [Duration] = []
        repeat {
            proxy.freeze()
            let began = ContinuousClock.now
            let error = try events.nextLoss()
            #expect(error.code == .timedOut)
            times.append(began.duration(to: .now))
            proxy.thaw()
            #expect(try events.next() == .subscribed)
        } while times.allSatisfy { $0 >= .milliseconds(3800) } && times.count < 5
        #expect(times.contains { $0 < .milliseconds(3800) }, "took twice the reply timeout: \(times)")
    }

    @Test func reconnectsAfterEachOf20Cuts() throws {
        let connection = RedisConnection(configuration)
        for round in 1...20 {
            #expect(try connection.call(RedisCommand("INCR", "n")).int == round)
            let answers = Answers(of: [RedisCommand("BLPOP", "none", "0")], on: connection)
            let observer = RedisConnection(redis.configuration)
            try waitUntilBlocked(1, on: observer)
            proxy.cut()
            let results = try answers.wait()
            let error = try requireError(RedisError.self) { try results[0].get() }
            #expect(error.code == .disconnected && error.isPassing)
            try waitUntilBlocked(0, on: observer)
        }
        #expect(try connection.call(RedisCommand("GET", "n")).int == 20)
    }

    @Test(arguments: [1, 50]) func worksOverASlowNetwork(milliseconds: Int) throws {
        proxy.delay(.milliseconds(milliseconds))
        let connection = RedisConnection(shortTimeout)
        let results = connection.call(Array(repeating: RedisCommand("INCR", "n"), count: 5000))
        #expect(results.last == .success(.integer(5000)))
        // With the slow network, these commands take longer than the reply timeout, but replies keep arriving.
        let value = [UInt8](repeating: 65, count: 150_000)
        let set = RedisCommand(arguments: [Array("SET".utf8), Array("k".utf8), value])
        let stored = connection.call(Array(repeating: set, count: 30))
        #expect(stored.allSatisfy { $0 == .success(.status("OK")) })
        #expect(try connection.call(RedisCommand("GET", "k")).bytes?.count == value.count)
        #expect(proxy.accepted == 1)
    }

    @Test func waitsLongerBeforeEachAttempt() throws {
        let connection = RedisConnection(configuration)
        try connection.connect()
        proxy.close()
        redis.terminate()
        let began = ContinuousClock.now
        for _ in 0..<6 { #expect(throws: RedisError.self) { try connection.call(RedisCommand("PING")) } }
        // The pauses are 25 to 50 ms after the first failure, then up to 100, 200, 400 and 800 ms.
        #expect(began.duration(to: .now) > .milliseconds(300))
    }
}
