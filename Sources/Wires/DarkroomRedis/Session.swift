import DarkroomConcurrency
import Foundation

/// An established connection that speaks the Redis protocol. Only one thread may use it.
final class Session {
    /// The bytes to send. After the first write, commands may be appended only when the buffer is empty.
    let output = OutputBuffer()
    /// The time at which the reply timeout starts. This is the latest time at which the server sent data, the server
    /// made room in a full socket, or a command was sent while no reply was pending.
    private(set) var lastProgress = ContinuousClock.now

    /// The server's address; never `.sentinels`.
    let address: RedisConfiguration.Address
    /// The nodes of the server's cluster; empty if the server is not part of a cluster.
    private(set) var clusterNodes: [RedisConfiguration.Endpoint] = []

    private let transport: Transport
    private let reader: ReplyReader
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    let displayName: String
    /// Whether the socket accepted only a part of the last write.
    private var isBlocked = false

    /// The socket, for poll(2).
    var socket: Int32 { transport.socket }
    var events: Int16 { Int16(output.isEmpty ? POLLIN : POLLIN | POLLOUT) }

    /// Connects, authenticates, selects the database, checks with PING that the server is ready, and loads `scripts`.
    ///
    /// - Parameters:
    ///   - configuration: The settings of a server, not of sentinels.
    ///   - scripts: The scripts to load. If the user may not load scripts, the initializer does not throw, because some
    ///     users only read data.
    ///   - masterOf: The service of which this server is the master, according to the sentinels. If the server is a
    ///     replica, the initializer throws.
    init(
        _ configuration: RedisConfiguration, scripts: [RedisScript] = [], masterOf service: String? = nil
    ) throws(RedisError) {
        let deadline = ContinuousClock.now + configuration.connectTimeout
        displayName = configuration.displayName
        address = configuration.address
        reader = ReplyReader(of: displayName)
        transport = try Transport(configuration)
        try greet(configuration, scripts, service, deadline)
    }

    deinit { input.deallocate() }

    func flush() throws(RedisError) {
        while !output.isEmpty {
            let sent = try transport.send(output.bytes)
            if sent < output.count { isBlocked = true }
            if sent == 0 { return }
            output.consume(sent)
            // A socket accepts bytes even if the server does not read them. But if the socket was full and accepts
            // bytes again, the server has read some bytes.
            if isBlocked { markProgress() }
            isBlocked = !output.isEmpty
        }
    }

    /// Receives available bytes, at most 16 buffers (1 MiB), and passes every complete reply to `handle`. Returns false
    /// if no bytes were available.
    func receive(_ handle: (RedisValue) throws(RedisError) -> Void) throws(RedisError) -> Bool {
        for round in 0..<16 {
            let count = try transport.receive(into: input)
            if count == 0 { return round > 0 }
            markProgress()
            try reader.feed(UnsafeRawBufferPointer(rebasing: input[..<count]))
            while let reply = try reader.next() { try handle(reply) }
        }
        return true
    }

    func markProgress() { lastProgress = .now }
}

// MARK: - The first commands of a connection

extension Session {
    private func greet(
        _ configuration: RedisConfiguration, _ scripts: [RedisScript], _ service: String?,
        _ deadline: ContinuousClock.Instant
    ) throws(RedisError) {
        let attempted = "connect to \(displayName)"
        var steps: [Greeting] = []
        if let password = configuration.password {
            let credentials = configuration.user.map { [$0, password] } ?? [password]
            steps.append(Greeting(.authentication, ["AUTH"] + credentials))
        }
        if configuration.database != 0 { steps.append(Greeting(.database, ["SELECT", "\(configuration.database)"])) }
        // If the server requires a client certificate and there is none, the error occurs only at the first command.
        steps.append(Greeting(.ping, ["PING"]))
        for script in scripts { steps.append(Greeting(script)) }
        if let service {
            steps.append(Greeting(.role(service), ["ROLE"]))
        } else if case .tcp = configuration.address {
            // This command must be the last, because a server that is not part of a cluster replies with an error.
            steps.append(Greeting(.clusterNodes, ["CLUSTER", "SLOTS"]))
        }

        let replies: [RedisValue]
        do throws(RedisError) {
            replies = try exchange(steps.map(\.command), until: deadline)
        } catch {
            if error.code == .tlsFailed {
                throw RedisError(
                    .tlsFailed, attempted,
                    "\(error.message); does it expect a client certificate, or one of another authority?")
            }
            guard error.code == .disconnected else { throw error }
            // Other causes than wrong TLS settings are also possible, so the error counts as temporary.
            let advice =
                switch configuration.tls {
                case .none: "; if this port expects TLS, use rediss:// in place of redis://"
                case .some(let tls) where tls.certificate == nil: "; or does it expect a client certificate?"
                case .some: ""
                }
            throw RedisError(.cannotConnect, attempted, error.message + advice)
        }
        for (step, reply) in zip(steps, replies) {
            if case .error(let text) = reply {
                if let failure = step.failure(text, attempted) { throw failure }
            } else if case .role(let service) = step.purpose, reply.array?.first?.string != "master" {
                throw RedisError(
                    .cannotConnect, attempted,
                    "the sentinels report it as the master of \"\(service)\", but it is a replica; try again when they"
                        + " agree")
            } else if case .clusterNodes = step.purpose {
                clusterNodes = Self.nodes(in: reply, seenFrom: configuration.address)
            }
        }
    }

    /// The nodes in a reply to CLUSTER SLOTS (https://redis.io/docs/latest/commands/cluster-slots/), each node once.
    private static func nodes(
        in reply: RedisValue, seenFrom address: RedisConfiguration.Address
    ) -> [RedisConfiguration.Endpoint] {
        guard case .tcp(let ownHost, _) = address else { return [] }
        var nodes: [RedisConfiguration.Endpoint] = []
        for range in reply.array ?? [] {
            for node in (range.array ?? []).dropFirst(2) {
                guard let fields = node.array, fields.count >= 2, let port = fields[1].int else { continue }
                let host = fields[0].string ?? ""
                let isUnknown = host.isEmpty || host == "?"
                let endpoint = RedisConfiguration.Endpoint(host: isUnknown ? ownHost : host, port: port)
                if !nodes.contains(endpoint) { nodes.append(endpoint) }
            }
        }
        return nodes
    }

    /// Sends `commands` and waits for all their replies, at most until `deadline`. No other command may be in flight.
    func exchange(
        _ commands: [RedisCommand], until deadline: ContinuousClock.Instant
    ) throws(RedisError) -> [RedisValue] {
        for command in commands { output.append(command) }
        var replies: [RedisValue] = []
        let wakeup = Wakeup()
        while true {
            var received = false
            do throws(RedisError) {
                try flush()
                received = try receive { replies.append($0) }
            } catch {
                // A server that does not accept a client sends an error and then closes the connection. The error is
                // more precise than the report of a lost connection.
                do throws(RedisError) {
                    _ = try receive { replies.append($0) }
                } catch let alert {
                    if alert.code == .tlsFailed { throw alert }
                }
                if case .error = replies.last { return replies }
                throw error
            }
            if replies.count >= commands.count { return replies }
            if received { continue }
            guard ContinuousClock.now < deadline else {
                throw RedisError(
                    .cannotConnect, "connect to \(displayName)",
                    "connected, but no reply to the first commands in time; is a Redis listening there?")
            }
            wakeup.wait(for: socket, events: events, until: deadline)
        }
    }
}

/// One of the first commands of a connection. Its `purpose` determines the error if the command fails.
private struct Greeting {
    enum Purpose {
        case authentication, database, ping, clusterNodes
        case role(String)
        case script(String)
    }

    let purpose: Purpose
    let command: RedisCommand

    init(_ purpose: Purpose, _ arguments: [String]) {
        self.purpose = purpose
        command = RedisCommand(arguments)
    }

    init(_ script: RedisScript) {
        purpose = .script(script.name)
        command = RedisCommand(arguments: [Array("SCRIPT".utf8), Array("LOAD".utf8), script.source])
    }

    /// The error for an error reply; nil if the connection is usable even though this command failed.
    func failure(_ reply: String, _ attempted: String) -> RedisError? {
        let name = reply.prefix { $0 != " " }
        if name == "LOADING" || name == "MASTERDOWN" {
            return RedisError(.cannotConnect, attempted, "\(reply); try again later", serverReply: reply)
        }
        switch purpose {
        case _ where name == "NOAUTH" || name == "WRONGPASS", .authentication:
            return RedisError(.authenticationFailed, attempted, "\(reply) Check user and password.", serverReply: reply)
        case .database:
            return RedisError(.server, attempted, "\(reply); check the database's number", serverReply: reply)
        case .ping:
            // With MISCONF, the server cannot write to its disk, but clients can still read its data.
            if name == "MISCONF" { return nil }
            if name == "NOPERM" { return Self.notPermitted(reply, attempted) }
            return RedisError(.cannotConnect, attempted, reply, serverReply: reply)
        case .role: return name == "NOPERM" ? Self.notPermitted(reply, attempted) : nil
        case .clusterNodes: return nil
        case .script(let script):
            if name == "NOPERM" { return nil }  // the user may only read; a script call will report the error
            return RedisError(.server, "\(attempted), load its script \"\(script)\"", reply, serverReply: reply)
        }
    }

    private static func notPermitted(_ reply: String, _ attempted: String) -> RedisError {
        RedisError(.server, attempted, "\(reply); see deploy/acl for what each role needs", serverReply: reply)
    }
}
