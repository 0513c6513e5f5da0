import DarkroomRedis
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

/// A real Redis Cluster. All keys of a Darkroom namespace are in one slot.
@Suite final class RedisClusterTests {
    let cluster: RedisCluster
    /// A namespace whose slot belongs to the first node.
    let namespace: String
    let slot: Int

    init() throws {
        cluster = try RedisCluster()
        let node = RedisConnection(cluster.nodes[0].configuration)
        var (name, slot, number) = ("", Int.max, 0)
        while slot > 5460 {
            number += 1
            name = "{test\(number)}:"
            slot = try #require(try node.call(RedisCommand("CLUSTER", "KEYSLOT", name)).int)
        }
        namespace = name
        self.slot = slot
    }

    deinit { cluster.stop() }

    /// Increments a key that the script does not declare, in the slot of the declared key, and publishes a message.
    private let script = RedisScript(
        name: "count",
        source: Array(
            """
            #!lua flags=allow-oom
            redis.call('PUBLISH', KEYS[1] .. 'events', ARGV[1])
            return redis.call('INCR', KEYS[1] .. 'n')
            """.utf8))

    private func count(_ text: String = "x") -> RedisCommand {
        script.command(keys: [Array(namespace.utf8)], arguments: [Array(text.utf8)])
    }

    private func configuration(ofNode index: Int) throws -> RedisConfiguration {
        try RedisConfiguration(url: "redis://127.0.0.1:\(cluster.ports[index])")
    }

    @Test func connectsThroughAnyNodeAndKeepsTheOrder() throws {
        for index in 0..<4 {
            let connection = RedisConnection(try configuration(ofNode: index), scripts: [script])
            // The pipeline is larger than one write. A node without the slot redirects the first command.
            let results = connection.call((0..<2000).map { _ in count(String(repeating: "x", count: 200)) })
            let expected = (0..<2000).map { Result<RedisValue, RedisError>.success(.integer(index * 2000 + $0 + 1)) }
            #expect(results == expected)
            let own = connection.call([RedisCommand("ECHO", "a"), RedisCommand("GET", namespace + "n")])
            #expect(try own.map { try $0.get().string } == ["a", "\((index + 1) * 2000)"])
        }
    }

    @Test func messageOfAScriptReachesSubscribersOfEveryNode() throws {
        let all = (0..<4).map { _ in SubscriptionEvents() }
        let subscriptions = try all.enumerated().map { index, events in
            RedisSubscription(
                try configuration(ofNode: index), channels: [namespace + "events"], onEvent: events.add)
        }
        defer { for subscription in subscriptions { subscription.close() } }
        for events in all { #expect(try events.next() == .subscribed) }
        let connection = RedisConnection(try configuration(ofNode: 2), scripts: [script])
        #expect(try connection.call(count("hello")) == .integer(1))
        for events in all {
            #expect(try events.next() == .message(channel: namespace + "events", payload: Array("hello".utf8)))
        }
    }

    /// A script declares one key and uses others. While a slot moves, each node has only some of the keys. Therefore
    /// the connection does not follow ASK: at the other node, the script would find only a part of a batch.
    @Test func waitsForASlotThatMovesAndFollowsIt() throws {
        let connection = RedisConnection(try configuration(ofNode: 0), scripts: [script])
        #expect(try connection.call(count()) == .integer(1))
        let (from, to) = (cluster.nodes[0], cluster.nodes[1])
        try RedisCluster.call(to, "CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", cluster.names[0])
        try RedisCluster.call(from, "CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", cluster.names[1])
        let error = try requireError(RedisError.self) { try connection.call(count()) }
        #expect(error.serverErrorName == "ASK" && error.isPassing)
        try RedisCluster.call(from, "MIGRATE", "127.0.0.1", "\(cluster.ports[1])", namespace + "n", "0", "5000")
        #expect(throws: RedisError.self) { try connection.call(count()) }
        for node in [to, from] {
            try RedisCluster.call(node, "CLUSTER", "SETSLOT", "\(slot)", "NODE", cluster.names[1])
        }
        #expect(try connection.call(count()) == .integer(2))
    }

    @Test func usesTheReplicaOfACrashedNode() throws {
        let connection = RedisConnection(try configuration(ofNode: 0), scripts: [script])
        #expect(try connection.call(count()) == .integer(1))
        #expect(try connection.call(RedisCommand("WAIT", "1", "5000")) == .integer(1))
        kill(cluster.nodes[0].processIdentifier, SIGKILL)
        var names: Set<String> = []
        var value: RedisValue?
        try waitUntil("the replica replies: \(names)") {
            switch connection.call([count()])[0] {
            case .success(let found): value = found
            case .failure(let error):
                #expect(error.isPassing, "\(error)")
                names.insert(error.serverErrorName ?? "\(error.code)")
            }
            return value != nil
        }
        #expect(value == .integer(2))
        #expect(!names.isEmpty)
        #expect(try connection.call(RedisCommand("CONFIG", "GET", "port")).array?.last?.int == cluster.ports[3])
    }

    @Test func waitsForAClusterThatIsDown() throws {
        let connection = RedisConnection(try configuration(ofNode: 0), scripts: [script])
        #expect(try connection.call(count()) == .integer(1))
        // If two of three masters are stopped, the third refuses commands, because it reaches no majority.
        for node in cluster.nodes[1...2] { kill(node.processIdentifier, SIGSTOP) }
        defer { for node in cluster.nodes[1...2] { kill(node.processIdentifier, SIGCONT) } }
        try waitUntil("the cluster is down") {
            guard case .failure(let error) = connection.call([count()])[0] else { return false }
            #expect(error.isPassing, "\(error)")
            return error.serverErrorName == "CLUSTERDOWN"
        }
        for node in cluster.nodes[1...2] { kill(node.processIdentifier, SIGCONT) }
        try waitUntil("the cluster serves commands again") {
            if case .success = connection.call([count()])[0] { true } else { false }
        }
    }
}
