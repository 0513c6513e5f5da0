import DarkroomConcurrency
import Foundation

/// One established connection: the bytes both ways, and the protocol on them. Used by one thread.
final class Session {
    /// What is to be sent; filled only while it is empty.
    let output = OutputBuffer()
    /// When there was last a sign of the other side, or something to be answered was first sent.
    private(set) var lastProgress = ContinuousClock.now

    /// The server's address, which is never one of sentinels.
    let address: RedisConfiguration.Address
    /// Where the nodes of its cluster are, if it is of one.
    private(set) var clusterNodes: [RedisConfiguration.Endpoint] = []

    private let transport: Transport
    private let reader = ReplyReader()
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    let displayName: String
    /// Whether the socket took less than it was given.
    private var isBlocked = false

    /// For poll(2).
    var socket: Int32 { transport.socket }
    /// What to wait for on the socket.
    var events: Int16 { Int16(output.isEmpty ? POLLIN : POLLIN | POLLOUT) }

    /// Connects, authenticates, selects the database, makes sure that the server serves, and loads `scripts`.
    ///
    /// - Parameters:
    ///   - configuration: of a server, not of sentinels.
    ///   - scripts: what is loaded; a user that may not load any is let in, since it may be one that only reads.
    ///   - masterOf: the service whose master the server is to be, according to sentinels; a replica is refused.
    init(
        _ configuration: RedisConfiguration, scripts: [RedisScript] = [], masterOf service: String? = nil
    ) throws(RedisError) {
        let deadline = ContinuousClock.now + configuration.connectTimeout
        displayName = configuration.displayName
        address = configuration.address
        transport = try Transport(configuration)
        try greet(configuration, scripts, service, deadline)
    }

    deinit { input.deallocate() }

    /// Sends what the socket takes now.
    func flush() throws(RedisError) {
        while !output.isEmpty {
            let sent = try transport.send(output.bytes)
            if sent < output.count { isBlocked = true }
            if sent == 0 { return }
            output.consume(sent)
            // That a socket takes bytes says nothing of the other side, until it was full before: then some have arrived.
            if isBlocked { markProgress() }
            isBlocked = !output.isEmpty
        }
    }

    /// Receives what is there, but no more than some buffers full, and hands every whole reply to `handle`.
    /// False when there was nothing.
    func receive(_ handle: (RedisValue) throws(RedisError) -> Void) throws(RedisError) -> Bool {
        for round in 0..<16 {
            let count = try transport.receive(into: input)
            if count == 0 { return round > 0 }
            markProgress()
            do throws(ProtocolError) {
                try reader.feed(UnsafeRawBufferPointer(rebasing: input[..<count]))
            } catch {
                throw protocolError(error)
            }
            while let reply = try nextReply() { try handle(reply) }
        }
        return true
    }

    /// Restarts the time within which the server has to answer.
    func markProgress() { lastProgress = .now }

    private func nextReply() throws(RedisError) -> RedisValue? {
        do throws(ProtocolError) { return try reader.next() } catch { throw protocolError(error) }
    }

    private func protocolError(_ error: ProtocolError) -> RedisError {
        RedisError(.protocolError, "read a reply of \(displayName)", "\(error.found); is a Redis listening there?")
    }
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
        // A client certificate that is missing shows at the first command, not before.
        steps.append(Greeting(.ping, ["PING"]))
        for script in scripts { steps.append(Greeting(script)) }
        if let service {
            steps.append(Greeting(.role(service), ["ROLE"]))
        } else if case .tcp = configuration.address {
            // Last, since a server that is of no cluster answers with an error.
            steps.append(Greeting(.clusterNodes, ["CLUSTER", "SLOTS"]))
        }

        let replies: [RedisValue]
        do throws(RedisError) {
            replies = try exchange(steps.map(\.command), deadline)
        } catch {
            if error.code == .tlsFailed {
                throw RedisError(
                    .tlsFailed, attempted,
                    "\(error.message); does it expect a client certificate, or one of another authority?")
            }
            guard error.code == .disconnected else { throw error }
            // A cut looks the same, so this may pass.
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
                    "the sentinels name it as the master of \"\(service)\", but it is a replica; try again when they"
                        + " agree")
            } else if case .clusterNodes = step.purpose {
                clusterNodes = Self.nodes(in: reply, seenFrom: configuration.address)
            }
        }
    }

    /// The nodes that CLUSTER SLOTS names (https://redis.io/docs/latest/commands/cluster-slots/), each once.
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

    /// Sends a command as the only one, and waits for its reply, at most until `deadline`.
    func ask(_ command: RedisCommand, until deadline: ContinuousClock.Instant) throws(RedisError) -> RedisValue {
        try exchange([command], deadline)[0]
    }

    /// Sends `commands` and waits for all their replies.
    private func exchange(
        _ commands: [RedisCommand], _ deadline: ContinuousClock.Instant
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
                // A server that refuses a client says why and closes: what it said is the better reason.
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
                    "connected, but no answer to the first commands in time; is a Redis listening there?")
            }
            wakeup.wait(for: socket, events: events, until: deadline)
        }
    }
}

/// A command that a new connection begins with, and what its failure means.
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
        command = RedisCommand(arguments: arguments.map { Array($0.utf8) })
    }

    init(_ script: RedisScript) {
        purpose = .script(script.name)
        command = RedisCommand(arguments: [Array("SCRIPT".utf8), Array("LOAD".utf8), script.source])
    }

    /// The error that an error reply is; nil when the connection is good without this step.
    func failure(_ reply: String, _ attempted: String) -> RedisError? {
        let name = reply.prefix { $0 != " " }
        if name == "LOADING" || name == "MASTERDOWN" {
            return RedisError(.cannotConnect, attempted, "\(reply); try again later", serverReply: reply)
        }
        if name == "NOAUTH" || name == "WRONGPASS" {
            return RedisError(
                .authenticationFailed, attempted, "\(reply) Check user and password.", serverReply: reply)
        }
        switch purpose {
        case .authentication:
            return RedisError(.authenticationFailed, attempted, "\(reply) Check user and password.", serverReply: reply)
        case .database:
            return RedisError(.server, attempted, "\(reply); check the database's number", serverReply: reply)
        case .ping:
            // It cannot write to its disk, and serves who only reads.
            if name == "MISCONF" { return nil }
            if name == "NOPERM" { return Self.notPermitted(reply, attempted) }
            return RedisError(.cannotConnect, attempted, reply, serverReply: reply)
        case .role: return name == "NOPERM" ? Self.notPermitted(reply, attempted) : nil
        case .clusterNodes: return nil
        case .script(let script):
            if name == "NOPERM" { return nil }  // a user that only reads; calling one then says so
            return RedisError(.server, "\(attempted), load its script \"\(script)\"", reply, serverReply: reply)
        }
    }

    private static func notPermitted(_ reply: String, _ attempted: String) -> RedisError {
        RedisError(.server, attempted, "\(reply); see deploy/acl for what each role needs", serverReply: reply)
    }
}
