import DarkroomConcurrency
import DarkroomRedis
import DarkroomTestSupport
import Foundation
import Testing

@Suite(.redisServer) struct RedisSubscriptionTests {
    let redis = RedisServer.current
    let connection = RedisConnection(RedisServer.current.configuration)

    @Test func receivesPublishedMessages() throws {
        let name = redis.namespace()
        let events = SubscriptionEvents()
        let subscription = RedisSubscription(
            redis.configuration, channels: [name + "1", name + "2"], onEvent: events.add)
        defer { subscription.close() }
        #expect(try events.next() == .subscribed)
        let payload: [UInt8] = [0, 255, 13, 10]
        let publish = RedisCommand(arguments: [Array("PUBLISH".utf8), Array((name + "2").utf8), payload])
        #expect(try connection.call(publish) == .integer(1))
        #expect(try connection.call(RedisCommand("PUBLISH", name + "1", "hello")) == .integer(1))
        #expect(try events.next() == .message(channel: name + "2", payload: payload))
        #expect(try events.next() == .message(channel: name + "1", payload: Array("hello".utf8)))
    }

    @Test func subscribesAgainAfterItsConnectionWasKilled() throws {
        let own = try RedisServer()
        defer { own.stop() }
        let connection = RedisConnection(own.configuration)
        let name = own.namespace()
        let events = SubscriptionEvents()
        let subscription = RedisSubscription(own.configuration, channels: [name], onEvent: events.add)
        defer { subscription.close() }
        #expect(try events.next() == .subscribed)
        #expect(try connection.call(RedisCommand("CLIENT", "KILL", "TYPE", "pubsub")) == .integer(1))
        let error = try events.nextLoss()
        #expect(error.code == .disconnected)
        #expect(try events.next() == .subscribed)
        #expect(try connection.call(RedisCommand("PUBLISH", name, "again")) == .integer(1))
        #expect(try events.next() == .message(channel: name, payload: Array("again".utf8)))
    }

    @Test func waitsForAServerThatIsNotRunningYet() throws {
        let own = try RedisServer()
        defer { own.stop() }
        own.terminate()
        let events = SubscriptionEvents()
        let subscription = RedisSubscription(own.configuration, channels: ["c"], onEvent: events.add)
        defer { subscription.close() }
        let error = try events.nextLoss()
        #expect(error.code == .cannotConnect)
        try own.restart()
        #expect(try events.next() == .subscribed)
    }

    @Test func staysSubscribedWhenNothingIsPublished() throws {
        var configuration = redis.configuration
        configuration.replyTimeout = .seconds(1)
        let name = redis.namespace()
        let events = SubscriptionEvents()
        let subscription = RedisSubscription(configuration, channels: [name], onEvent: events.add)
        defer { subscription.close() }
        #expect(try events.next() == .subscribed)
        // The server counts the PINGs of the subscription; each PING follows a silent period.
        let before = try pings()
        try waitUntil("the subscription has sent two PINGs") { try pings() >= before + 2 }
        #expect(try connection.call(RedisCommand("PUBLISH", name, "late")) == .integer(1))
        #expect(try events.next() == .message(channel: name, payload: Array("late".utf8)))
    }

    @Test func timesOutOnAServerThatHangs() throws {
        let own = try RedisServer()
        defer { own.stop() }
        var configuration = own.configuration
        configuration.replyTimeout = .seconds(2)
        let events = SubscriptionEvents()
        let subscription = RedisSubscription(configuration, channels: ["c"], onEvent: events.add)
        defer { subscription.close() }
        #expect(try events.next() == .subscribed)
        kill(own.processIdentifier, SIGSTOP)
        defer { kill(own.processIdentifier, SIGCONT) }
        let error = try events.nextLoss()
        #expect(error.code == .timedOut)
        kill(own.processIdentifier, SIGCONT)
        #expect(try events.next() == .subscribed)
    }

    private func pings() throws -> Int {
        let statistics = try #require(try connection.call(RedisCommand("INFO", "commandstats")).string)
        let line = statistics.split(separator: "\r\n").first { $0.hasPrefix("cmdstat_ping:calls=") }
        return line.flatMap { Int($0.dropFirst("cmdstat_ping:calls=".count).prefix { $0 != "," }) } ?? 0
    }
}
