import Foundation

/// The loop that runs on a connection's thread.
///
/// DESIGN: a command waits in `unsent` until it is sent, then in `expected` until its reply arrives. Both queues keep
/// the order of the calls. A command that got a NOSCRIPT reply waits in `lostScripts`. When all pending replies have
/// arrived, the loop sends the command again with the script's source, before any new command. The server therefore
/// runs commands in the order of the calls, with one exception: a script that the server has lost runs after the
/// commands that were in flight at the same time. A command that a cluster node rejected with MOVED waits in
/// `redirected`, also until all pending replies have arrived. Then the loop connects to the other node, and sends this
/// command first. Sending and receiving alternate and never block, so that a pipeline of any length cannot deadlock.
final class ConnectionLoop {
    private let configuration: RedisConfiguration
    private let scripts: [RedisScript]
    private let scriptsBySHA1: [[UInt8]: RedisScript]
    private let mailbox: ConnectionMailbox
    private let onReconnect: () -> Void
    private var hasConnected = false

    private var finder: ServerFinder
    private var session: Session?
    private var backoff = Backoff()
    private var isClosed = false
    private var masterMayHaveChanged = false
    /// Whether a command has succeeded on the current connection.
    private var isProven = false
    /// Whether a reply has shown that this server cannot execute commands now. If so, the loop tries another server.
    private var isMisplaced = false
    private var redirections = 0
    private var unsent = Fifo<PartOfCall>()
    private var expected = Fifo<PartOfCall>()
    private var lostScripts: [PartOfCall] = []
    private var redirected: [PartOfCall] = []

    /// The maximum number of consecutive redirections. More redirections mean that the nodes disagree about the node
    /// that holds the keys.
    private static let mostRedirections = 5
    /// When this many bytes are queued for sending, the loop reads replies before it queues more bytes.
    private static let batchBytes = 256 * 1024

    /// - Parameter onReconnect: called after each connection except the first.
    init(
        _ configuration: RedisConfiguration, scripts: [RedisScript], mailbox: ConnectionMailbox,
        onReconnect: @escaping () -> Void
    ) {
        self.onReconnect = onReconnect
        self.configuration = configuration
        self.scripts = scripts
        scriptsBySHA1 = Dictionary(scripts.map { (Array($0.sha1.utf8), $0) }) { first, _ in first }
        self.mailbox = mailbox
        finder = ServerFinder(configuration)
    }

    /// Returns when the connection is closed.
    func run() {
        let watch = RedisSubscription.ofMaster(configuration, notify: mailbox)
        defer { withExtendedLifetime(watch) {} }
        while true {
            handle(mailbox.take())
            if isClosed { break }
            // The flag is also cleared without a session, because each connection attempt asks for the master.
            defer { masterMayHaveChanged = false }
            if let session {
                do throws(RedisError) {
                    if masterMayHaveChanged { try finder.checkMaster(session) }
                    try serve(session)
                } catch {
                    loseConnection(error)
                }
            } else if unsent.isEmpty {
                mailbox.sleep()
            } else if backoff.mustWait(at: .now) {
                mailbox.sleep(until: backoff.nextAttempt)
            } else {
                connect()
            }
        }
        handle(mailbox.end())
        let closed = RedisError.closed(configuration)
        loseConnection(closed)
        for part in unsent.removeAll() { part.fail(closed) }
    }

    private func handle(_ messages: [ConnectionMailbox.Message]) {
        for message in messages {
            switch message {
            case .call(let call): unsent.append(PartOfCall(call, call.commands.indices))
            case .masterMayHaveChanged: masterMayHaveChanged = true
            case .close: isClosed = true
            }
        }
    }

    private func connect() {
        do throws(RedisError) {
            session = try finder.connect(scripts: scripts)
            isProven = false
            isMisplaced = false
            if hasConnected { onReconnect() }
            hasConnected = true
        } catch {
            backoff.failed(at: .now)
            handle(mailbox.take())  // calls made during this connection attempt also fail
            for part in unsent.removeAll() { part.fail(error) }
        }
    }

    /// Handles a lost connection. Commands that were sent fail, and unsent commands wait for the next connection.
    private func loseConnection(_ error: RedisError) {
        session = nil
        // If no command has succeeded on this connection, the next connection may fail as well. Therefore the next
        // connection attempt is delayed.
        if !isProven { backoff.failed(at: .now) }
        for part in expected.removeAll() + lostScripts { part.fail(error) }
        lostScripts = []
        if !unsent.isEmpty && unsent.first.next > 0 {
            unsent.first.fail(error)
            unsent.removeFirst()
        }
        sendRedirectedFirst()
    }

    /// Leaves this server after all pending replies have arrived. The commands that were not executed are sent to the
    /// next server.
    private func changeServer() {
        session = nil
        if isMisplaced {
            finder.leave()
            backoff.failed(at: .now)
        }
        redirected = lostScripts + redirected
        lostScripts = []
        sendRedirectedFirst()
    }

    private func sendRedirectedFirst() {
        guard !redirected.isEmpty else { return }
        for part in unsent.removeAll() { redirected.append(part) }
        for part in redirected { unsent.append(part) }
        redirected = []
    }
}

// MARK: - While connected

extension ConnectionLoop {
    /// Sends and receives once without blocking, and sleeps if no bytes were sent or received.
    private func serve(_ session: Session) throws(RedisError) {
        if session.output.isEmpty { fill(session) }
        try session.flush()
        let received = try session.receive { reply throws(RedisError) in try take(reply) }
        if expected.isEmpty && mustChange { return changeServer() }
        if received || (session.output.isEmpty && canSend) { return }

        var deadline: ContinuousClock.Instant?
        if !expected.isEmpty {
            deadline = session.lastProgress + configuration.replyTimeout
            guard session.lastProgress.duration(to: .now) < configuration.replyTimeout else {
                throw RedisError(
                    .timedOut, "wait for a reply of \(configuration.displayName)",
                    "no data within \(configuration.replyTimeout); the command may or may not have been"
                        + " carried out; check the server and the network")
            }
        }
        mailbox.sleep(until: deadline, socket: session.socket, events: session.events)
    }

    /// Whether the loop must leave this server when all pending replies have arrived.
    private var mustChange: Bool { isMisplaced || !redirected.isEmpty }

    /// Whether a command may be sent now. Lost scripts are sent only after the pending replies have arrived, and other
    /// commands only after the lost scripts.
    private var canSend: Bool {
        guard !mustChange else { return false }
        return lostScripts.isEmpty ? !unsent.isEmpty : expected.isEmpty
    }

    /// Fills the empty output buffer with the next commands.
    private func fill(_ session: Session) {
        guard canSend else { return }
        if expected.isEmpty { session.markProgress() }
        if !lostScripts.isEmpty {
            for part in lostScripts { appendEvaluation(part, to: session.output) }
            lostScripts = []
            return
        }
        while !unsent.isEmpty && session.output.count < Self.batchBytes {
            let first = unsent.first.next
            let (call, end) = (unsent.first.call, unsent.first.end)
            var next = first
            while next < end && session.output.count < Self.batchBytes {
                session.output.append(call.commands[next])
                next += 1
            }
            expected.append(PartOfCall(call, first..<next))
            if next == end { unsent.removeFirst() } else { unsent.first.next = next }
        }
    }

    private func appendEvaluation(_ part: PartOfCall, to output: OutputBuffer) {
        let command = part.call.commands[part.next]
        guard let script = script(calledBy: command) else { return }  // unreachable for script calls
        output.append(script.evaluation(of: command))
        expected.append(part)
    }

    /// The script that a command calls by EVALSHA; nil if it calls none of the connection's scripts.
    private func script(calledBy command: RedisCommand) -> RedisScript? {
        guard command.arguments.count >= 3, command.name.uppercased() == "EVALSHA" else { return nil }
        return scriptsBySHA1[command.arguments[1]]
    }

    /// Assigns a reply to the oldest command that waits for a reply.
    private func take(_ reply: RedisValue) throws(RedisError) {
        guard !expected.isEmpty else {
            throw RedisError(
                .protocolError, "talk to \(configuration.displayName)", "received a reply without a pending command")
        }
        let (call, index) = (expected.first.call, expected.first.next)
        if index + 1 == expected.first.end { expected.removeFirst() } else { expected.first.next = index + 1 }

        guard case .error(let text) = reply else {
            if !isProven { proven() }
            return call.answer(index, .success(reply))
        }
        let command = call.commands[index]
        let script = script(calledBy: command)
        let name = text.prefix { $0 != " " }
        if script != nil && name == "NOSCRIPT" {
            lostScripts.append(PartOfCall(call, index..<index + 1))
        } else if name == "MOVED" && redirects(text) {
            redirected.append(PartOfCall(call, index..<index + 1))
        } else {
            if RedisError.misplacedReplies.contains(String(name)) { isMisplaced = true }
            let attempted = script.map { "script \"\($0.name)\"" } ?? command.name
            call.answer(
                index,
                .failure(
                    RedisError(.server, "\(attempted) on \(configuration.displayName)", text, serverReply: text)))
        }
    }

    private func proven() {
        isProven = true
        redirections = 0
        backoff.succeeded()
    }

    /// Follows a MOVED reply. Returns false if the reply names no usable node, or after too many redirections.
    private func redirects(_ reply: String) -> Bool {
        guard let session else { return false }
        // Several MOVED replies in one pipeline count as one redirection.
        if redirected.isEmpty { redirections += 1 }
        guard redirections <= Self.mostRedirections, finder.follow(reply, from: session.address) else {
            redirections = 0
            isMisplaced = true
            return false
        }
        return true
    }
}

extension RedisError {
    static func closed(_ configuration: RedisConfiguration) -> RedisError {
        RedisError(.closed, "talk to \(configuration.displayName)", "the connection was closed by this program")
    }
}
