import DarkroomRedis
import Foundation
import Testing

/// A Redis Cluster of real nodes on the loopback interface: three masters and a replica of the first one.
package final class RedisCluster: Sendable {
    /// The nodes. The fourth node is the replica.
    package let nodes: [RedisServer]
    /// The ports, in the order of `nodes`.
    package let ports: [Int]
    /// The node ids, in the order of `nodes`.
    package let names: [String]

    /// Starts the nodes and waits until the cluster is available.
    package init() throws {
        ports = try (0..<4).map { _ in try RedisServer.freePort() }
        let busPorts = try (0..<4).map { _ in try RedisServer.freePort() }
        nodes = try zip(ports, busPorts).map { port, busPort in
            try RedisServer(
                arguments: [
                    "--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-port", "\(busPort)",
                    "--repl-diskless-sync-delay", "0", "--cluster-replica-validity-factor", "0",
                ], port: port)
        }
        names = try nodes.map { node in
            let name = try RedisConnection(node.configuration).call(RedisCommand("CLUSTER", "MYID")).string
            return try #require(name)
        }
        for (node, slots) in zip(nodes, [(0, 5460), (5461, 10_922), (10_923, 16_383)]) {
            try Self.call(node, "CLUSTER", "ADDSLOTSRANGE", "\(slots.0)", "\(slots.1)")
        }
        // Without different epochs, the nodes would not agree on a slot table.
        for (index, node) in nodes.enumerated() { try Self.call(node, "CLUSTER", "SET-CONFIG-EPOCH", "\(index + 1)") }
        for (port, busPort) in zip(ports, busPorts).dropFirst() {
            try Self.call(nodes[0], "CLUSTER", "MEET", "127.0.0.1", "\(port)", "\(busPort)")
        }
        try waitUntil("all nodes know each other") {
            try nodes.allSatisfy { try Self.information($0, "cluster_known_nodes") == "4" }
        }
        try Self.call(nodes[3], "CLUSTER", "REPLICATE", names[0])
        try waitUntil("the cluster serves") {
            try nodes.allSatisfy { try Self.information($0, "cluster_state") == "ok" }
                && RedisConnection(nodes[3].configuration).call(RedisCommand("INFO", "replication")).string?
                    .contains("master_link_status:up") == true
        }
    }

    /// Performs a command on one node, through the socket of the node.
    @discardableResult
    package static func call(_ node: RedisServer, _ words: String...) throws -> RedisValue {
        try RedisConnection(node.configuration).call(RedisCommand(arguments: words.map { Array($0.utf8) }))
    }

    /// Ends all nodes.
    package func stop() {
        for node in nodes { node.stop() }
    }

    private static func information(_ node: RedisServer, _ field: String) throws -> String? {
        let lines = try call(node, "CLUSTER", "INFO").string?.split(whereSeparator: \.isNewline) ?? []
        return lines.first { $0.hasPrefix(field + ":") }.map { String($0.dropFirst(field.count + 1)) }
    }
}
