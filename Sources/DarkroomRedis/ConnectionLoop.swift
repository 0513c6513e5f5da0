import Foundation

/// What the thread of a connection does.
///
/// DESIGN: commands wait in `unsent`; those that were sent wait in `expected`, in the order in which their replies
/// come; those that were answered by NOSCRIPT wait in `lostScripts` until every reply that is due has come, and are
/// sent again, with the source, before anything new. So commands are carried out in the order in which they were given,
/// but for scripts that a running server has lost, which come after what was in flight with them.
/// Sending and receiving alternate and never block, so a pipeline of any length cannot lock up.
final class ConnectionLoop {
    private let configuration: RedisConfiguration
    private let scripts: RedisScripts
    private let mailbox: Mailbox

    private var session: Session?
    private var backoff = Backoff()
    private var unsent = Fifo<PartOfCall>()
    private var expected = Fifo<PartOfCall>()
    private var lostScripts: [PartOfCall] = []

    /// How much is made ready to be sent before replies are looked at again.
    private static let batchBytes = 256 * 1024

    init(_ configuration: RedisConfiguration, scripts: [RedisScript], mailbox: Mailbox) {
        self.configuration = configuration
        self.scripts = RedisScripts(scripts)
        self.mailbox = mailbox
    }

    /// Returns when the mailbox was closed.
    func run() {
        while takeNewCalls() {
            if let session {
                do throws(RedisError) { try serve(session) } catch { lose(error) }
            } else if unsent.isEmpty {
                mailbox.sleep()
            } else if backoff.mustWait(at: .now) {
                mailbox.sleep(until: backoff.nextAttempt)
            } else {
                connect()
            }
        }
        let closed = RedisError.closed(configuration)
        lose(closed)
        for part in unsent.removeAll() { part.fail(closed) }
    }

    private func takeNewCalls() -> Bool {
        let (calls, open) = mailbox.take()
        for call in calls { unsent.append(PartOfCall(call, call.commands.indices)) }
        return open
    }

    private func connect() {
        do throws(RedisError) {
            session = try Session(configuration, scripts: scripts.all)
            backoff.succeeded()
        } catch {
            backoff.failed(at: .now)
            _ = takeNewCalls()  // who came while it was tried waits for nothing better
            for part in unsent.removeAll() { part.fail(error) }
        }
    }

    /// The connection is gone: what was sent on it fails, what was not waits for the next.
    private func lose(_ error: RedisError) {
        session = nil
        for part in expected.removeAll() + lostScripts { part.fail(error) }
        lostScripts = []
        if !unsent.isEmpty && unsent.first.next > 0 {
            unsent.first.fail(error)
            unsent.removeFirst()
        }
    }
}

// MARK: - While connected

extension ConnectionLoop {
    /// One turn: sends and receives what can be, and sleeps when neither could.
    private func serve(_ session: Session) throws(RedisError) {
        if session.output.isEmpty { fill(session) }
        try session.flush()
        let received = try session.receive { reply throws(RedisError) in try take(reply) }
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

    /// Whether something may be sent now; lost scripts wait for the replies that are due, the rest waits for them.
    private var canSend: Bool { lostScripts.isEmpty ? !unsent.isEmpty : expected.isEmpty }

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

        guard case .error(let text) = reply else { return call.answer(index, .success(reply)) }
        let command = call.commands[index]
        let script = scripts.called(by: command)
        if script != nil && text.hasPrefix("NOSCRIPT") {
            lostScripts.append(PartOfCall(call, index..<index + 1))
        } else {
            let attempted = script.map { "script \"\($0.name)\"" } ?? command.name
            call.answer(
                index,
                .failure(
                    RedisError(.server, "\(attempted) on \(configuration.displayName)", text, serverReply: text)))
        }
    }
}

extension RedisError {
    static func closed(_ configuration: RedisConfiguration) -> RedisError {
        RedisError(.closed, "talk to \(configuration.displayName)", "the connection was closed by this program")
    }
}
