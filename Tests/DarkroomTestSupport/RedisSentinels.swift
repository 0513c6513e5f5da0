import DarkroomRedis
import Foundation
import Testing

/// A real master, its replicas, and the sentinels that monitor them, on the loopback interface.
package final class RedisSentinels: Sendable {
    /// The name by which the sentinels know the master.
    package static let service = "darkroom-test"

    /// The servers. Initially, the first server is the master.
    package let servers: [RedisServer]
    /// The ports, in the order of `servers`.
    package let ports: [Int]
    /// The ports of the sentinels.
    package let sentinelPorts: [Int]
    /// The sentinels.
    package let sentinels: [BoundProcess]

    /// Starts all processes, and waits until the replicas are connected and the sentinels have found each other.
    /// - Parameters:
    ///   - replicas: The number of replicas.
    ///   - sentinels: The number of sentinels. A failover requires all but one of them.
    ///   - password: The password of the servers, if any.
    ///   - sentinelPassword: The password of the sentinels, if any.
    ///   - patience: The time without a reply of the master after which the sentinels promote a replica.
    package init(
        replicas: Int = 2, sentinels count: Int = 3, password: String? = nil, sentinelPassword: String? = nil,
        patience: Duration = .milliseconds(500)
    ) throws {
        ports = try (0...replicas).map { _ in try RedisServer.freePort() }
        sentinelPorts = try (0..<count).map { _ in try RedisServer.freePort() }
        var servers: [RedisServer] = []
        for port in ports {
            let following = port == ports[0] ? [] : ["--replicaof", "127.0.0.1", "\(ports[0])"]
            let arguments = ["--repl-diskless-sync-delay", "0", "--repl-timeout", "5"] + following
            let server = try RedisServer(arguments: arguments, port: port)
            servers.append(server)
            guard let password else { continue }
            let administrator = RedisConnection(server.configuration)
            for setting in ["masterauth", "requirepass"] {
                _ = try administrator.call(RedisCommand("CONFIG", "SET", setting, password))
            }
        }
        self.servers = servers
        let folder = servers[0].folder
        let identities = sentinelPorts.map { String(repeating: "0", count: 40 - "\($0)".count) + "\($0)" }
        var processes: [BoundProcess] = []
        for (port, identity) in zip(sentinelPorts, identities) {
            let monitored = "sentinel monitor \(Self.service) 127.0.0.1 \(ports[0]) \(max(count - 1, 1))"
            var lines = ["port \(port)", "bind 127.0.0.1", "dir \(folder)", "sentinel myid \(identity)", monitored]
            lines += ["sentinel down-after-milliseconds \(Self.service) \(Int(patience / .milliseconds(1)))"]
            lines += ["sentinel failover-timeout \(Self.service) 3000"]
            if let password { lines.append("sentinel auth-pass \(Self.service) \(password)") }
            if let sentinelPassword {
                lines += ["requirepass \(sentinelPassword)", "sentinel sentinel-pass \(sentinelPassword)"]
            }
            // Without these lines, the sentinels need seconds to find each other.
            lines += ports.dropFirst().map { "sentinel known-replica \(Self.service) 127.0.0.1 \($0)" }
            for (other, name) in zip(sentinelPorts, identities) where other != port {
                lines.append("sentinel known-sentinel \(Self.service) 127.0.0.1 \(other) \(name)")
            }
            let path = "\(folder)/sentinel-\(port).conf"
            try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
            let log = "\(folder)/sentinel-\(port).log"
            processes.append(try BoundProcess(["redis-server", path, "--sentinel"], log: log))
        }
        sentinels = processes
        try waitUntilReady(replicas, sentinelPassword)
    }

    /// The URL of the master.
    package var url: String {
        "redis+sentinel://" + sentinelPorts.map { "127.0.0.1:\($0)" }.joined(separator: ",") + "/\(Self.service)"
    }

    /// The port of the promoted replica, or nil while there is none.
    package func promoted() throws -> Int? {
        for (server, port) in zip(servers, ports) where port != ports[0] {
            // Uses the Unix socket.
            let role = RedisConnection(server.configuration).call([RedisCommand("ROLE")])[0]
            if case .success(let reply) = role, reply.array?.first?.string == "master" { return port }
        }
        return nil
    }

    /// Ends all processes.
    package func stop() {
        for sentinel in sentinels { sentinel.stop() }
        for server in servers { server.stop() }
    }

    private func waitUntilReady(_ replicas: Int, _ sentinelPassword: String?) throws {
        for port in sentinelPorts {
            var configuration = try RedisConfiguration(url: "redis://127.0.0.1:\(port)")
            configuration.password = sentinelPassword
            let sentinel = RedisConnection(configuration)
            var fields: [String: String] = [:]
            try waitUntil("the sentinel at \(port) is ready: \(fields)") {
                let reply = sentinel.call([RedisCommand("SENTINEL", "MASTER", Self.service)])[0]
                let words = (try? reply.get())?.array?.compactMap(\.string) ?? []
                fields = Dictionary(
                    uniqueKeysWithValues: stride(from: 0, to: words.count - 1, by: 2).map { (words[$0], words[$0 + 1]) }
                )
                return fields["num-slaves"] == "\(replicas)"
                    && fields["num-other-sentinels"] == "\(sentinelPorts.count - 1)" && fields["flags"] == "master"
            }
            // After a standstill of 2 s, a sentinel would be inactive for another 30 s (TILT mode).
            _ = try sentinel.call(RedisCommand("SENTINEL", "DEBUG", "TILT-TRIGGER", "60000"))
        }
    }
}
