import Foundation

/// One established connection: the bytes both ways, and the protocol on them. Used by one thread.
final class Session {
    /// What is to be sent; filled only while it is empty.
    let output = OutputBuffer()
    /// When bytes were last sent or received.
    private(set) var lastProgress = ContinuousClock.now

    private let transport: Transport
    private let reader = ReplyReader()
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    private let displayName: String

    /// For poll(2).
    var socket: Int32 { transport.socket }
    /// What to wait for on the socket.
    var events: Int16 { Int16(output.isEmpty ? POLLIN : POLLIN | POLLOUT) }

    /// Connects, authenticates, selects the database, makes sure that the server serves, and loads `scripts`.
    init(_ configuration: RedisConfiguration, scripts: [RedisScript] = []) throws(RedisError) {
        let deadline = ContinuousClock.now + configuration.connectTimeout
        displayName = configuration.displayName
        transport = try Transport(configuration)
        try greet(configuration, scripts, deadline)
    }

    deinit { input.deallocate() }

    /// Sends what the socket takes now.
    func flush() throws(RedisError) {
        while !output.isEmpty {
            let sent = try transport.send(output.bytes)
            if sent == 0 { return }
            output.consume(sent)
            markProgress()
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
        _ configuration: RedisConfiguration, _ scripts: [RedisScript], _ deadline: ContinuousClock.Instant
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

        let replies: [RedisValue]
        do throws(RedisError) {
            replies = try exchange(steps.map(\.command), deadline)
        } catch {
            guard error.code == .disconnected else { throw error }
            throw configuration.tls == nil
                ? RedisError(
                    .cannotConnect, attempted,
                    "\(error.message); if this port expects TLS, use rediss:// in place of redis://")
                : RedisError(
                    .tlsFailed, attempted,
                    "\(error.message); does it expect a client certificate, or one of another authority?")
        }
        for (step, reply) in zip(steps, replies) {
            if case .error(let text) = reply { throw step.failure(text, attempted) }
        }
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
            do {
                try flush()
                received = try receive { replies.append($0) }
            } catch {
                // A server that refuses a client says why and closes: what it said is the better reason.
                _ = try? receive { replies.append($0) }
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
        case authentication, database, ping
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

    func failure(_ reply: String, _ attempted: String) -> RedisError {
        if reply.hasPrefix("LOADING") || reply.hasPrefix("MASTERDOWN") {
            return RedisError(.cannotConnect, attempted, "\(reply); try again later", serverReply: reply)
        }
        if reply.hasPrefix("NOAUTH") || reply.hasPrefix("WRONGPASS") {
            return RedisError(
                .authenticationFailed, attempted, "\(reply) Check user and password.", serverReply: reply)
        }
        return switch purpose {
        case .authentication:
            RedisError(.authenticationFailed, attempted, "\(reply) Check user and password.", serverReply: reply)
        case .database: RedisError(.server, attempted, "\(reply); check the database's number", serverReply: reply)
        case .ping: RedisError(.cannotConnect, attempted, reply, serverReply: reply)
        case .script(let name):
            RedisError(.server, "\(attempted), load its script \"\(name)\"", reply, serverReply: reply)
        }
    }
}
