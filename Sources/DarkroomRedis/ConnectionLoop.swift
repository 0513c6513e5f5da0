import Foundation

/// What the thread of a connection does.
///
/// DESIGN: commands wait in `unsent`; those that were sent wait in `expected`, in the order in which their replies
/// come; those that were answered by NOSCRIPT wait in `lostScripts` until every reply that is due has come, and are
/// sent again, with the source, before anything new. So commands are carried out in the order in which they were given,
/// but for scripts that a running server has lost, which come after what was in flight with them.
/// Commands that a node of a cluster did not carry out, since another has the keys (MOVED), wait in `redirected` in the
/// same way and go first on the connection to that node.
/// Sending and receiving alternate and never block, so a pipeline of any length cannot lock up.
final class ConnectionLoop {
    private let configuration: RedisConfiguration
    private let scripts: RedisScripts
    private let mailbox: ConnectionMailbox

    private var finder: ServerFinder
    private var session: Session?
    private var backoff = Backoff()
    private var isClosed = false
    private var masterMayHaveChanged = false
    /// Whether the server has carried out a command since it was connected to.
    private var isProven = false
    /// Whether the server is not, or not now, the one to talk to.
    private var isMisplaced = false
    /// How often in a row commands were redirected.
    private var redirections = 0
    private var unsent = Fifo<PartOfCall>()
    private var expected = Fifo<PartOfCall>()
    private var lostScripts: [PartOfCall] = []
    private var redirected: [PartOfCall] = []

    /// More redirections in a row mean that the nodes do not agree.
    private static let mostRedirections = 5
    /// How much is made ready to be sent before replies are looked at again.
    private static let batchBytes = 256 * 1024

    init(_ configuration: RedisConfiguration, scripts: [RedisScript], mailbox: ConnectionMailbox) {
        self.configuration = configuration
        self.scripts = RedisScripts(scripts)
        self.mailbox = mailbox
        finder = ServerFinder(configuration)
    }

    /// Returns when the connection is closed.
    func run() {
        let watch = MasterWatch(configuration, notify: mailbox)
        defer { withExtendedLifetime(watch) {} }
        while true {
            handle(mailbox.take())
            if isClosed { break }
            // The next attempt to connect asks for the master anyway.
            defer { masterMayHaveChanged = false }
            if let session {
                do throws(RedisError) {
                    if masterMayHaveChanged { try finder.checkMaster(session) }
                    try serve(session)
                } catch {
                    lose(error)
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
        lose(closed)
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
            session = try finder.connect(scripts: scripts.all)
            isProven = false
            isMisplaced = false
        } catch {
            backoff.failed(at: .now)
            handle(mailbox.take())  // calls that came during the attempt fail with it
            for part in unsent.removeAll() { part.fail(error) }
        }
    }

    /// The connection is gone: what was sent on it fails, what was not waits for the next.
    private func lose(_ error: RedisError) {
        session = nil
        // One that is lost before it has done anything may be so again.
        if !isProven { backoff.failed(at: .now) }
        for part in expected.removeAll() + lostScripts { part.fail(error) }
        lostScripts = []
        if !unsent.isEmpty && unsent.first.next > 0 {
            unsent.first.fail(error)
            unsent.removeFirst()
        }
        sendRedirectedFirst()
    }

    /// Everything is answered and another server is to be talked to: what was not carried out goes there.
    private func change() {
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
    /// One turn: sends and receives what can be, and sleeps when neither could.
    private func serve(_ session: Session) throws(RedisError) {
        if session.output.isEmpty { fill(session) }
        try session.flush()
        let received = try session.receive { reply throws(RedisError) in try take(reply) }
        if expected.isEmpty && mustChange { return change() }
        if received || (session.output.isEmpty && canSend) { return }

        var deadline: ContinuousClock.Instant?
        if !expected.isEmpty {
            deadline = session.lastProgress + configuration.replyTimeout
            guard session.lastProgress.duration(to: .now) < configuration.replyTimeout else {
                throw RedisError(
                    .timedOut, "wait for a reply of \(configuration.displayName)",
                    "nothing came within \(configuration.replyTimeout); the command may or may not have been carried"
                        + " out; check the server and the network")
            }
        }
        mailbox.sleep(until: deadline, socket: session.socket, events: session.events)
    }

    /// Whether another server is to be talked to, as soon as all that was sent is answered.
    private var mustChange: Bool { isMisplaced || !redirected.isEmpty }

    /// Whether something may be sent now; lost scripts wait for the replies that are due, the rest waits for them.
    private var canSend: Bool {
        guard !mustChange else { return false }
        return lostScripts.isEmpty ? !unsent.isEmpty : expected.isEmpty
    }

    /// Puts the next commands into the empty output.
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
        guard let script = scripts.called(by: command) else { return }  // never: only such commands are kept
        output.append(script.evaluation(of: command))
        expected.append(part)
    }

    /// Takes the next reply to its call.
    private func take(_ reply: RedisValue) throws(RedisError) {
        guard !expected.isEmpty else {
            throw RedisError(
                .protocolError, "talk to \(configuration.displayName)", "a reply came that nobody had asked for")
        }
        let (call, index) = (expected.first.call, expected.first.next)
        if index + 1 == expected.first.end { expected.removeFirst() } else { expected.first.next = index + 1 }

        guard case .error(let text) = reply else {
            if !isProven { proven() }
            return call.answer(index, .success(reply))
        }
        let command = call.commands[index]
        let script = scripts.called(by: command)
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

    /// Whether a MOVED reply is followed.
    private func redirects(_ reply: String) -> Bool {
        guard let session else { return false }
        // All replies of one pipeline point to one node: that counts once.
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
