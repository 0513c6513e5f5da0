import DarkroomConcurrency
import Foundation

/// What a ``RedisSubscription`` tells.
package enum RedisSubscriptionEvent: Sendable, Equatable {
    /// The server has confirmed all channels: what is published from now on arrives. Comes again after every reconnect;
    /// what was published in between is lost, so read again what the messages are about.
    case subscribed
    /// A message.
    case message(channel: String, payload: [UInt8])
    /// The connection was lost, or could not be made; it is tried again by itself. Comes once until `subscribed`.
    case disconnected(RedisError)
}

/// A connection that listens to channels, and comes back by itself when it is lost.
///
/// Attempts are 25 ms to 0.5 s apart. A server that is silent is asked (PING), so a dead connection is noticed, too, within
/// ``RedisConfiguration/replyTimeout``. With sentinels it listens to the master that they name, and to the next one as soon as
/// they name it.
package final class RedisSubscription: Sendable {
    private let mailbox = ConnectionMailbox()
    private let thread: OwnedThread

    /// Subscribes to `channels`; `onEvent` is called on the subscription's thread and must be short.
    package convenience init(
        _ configuration: RedisConfiguration, channels: [String],
        onEvent: @escaping @Sendable (RedisSubscriptionEvent) -> Void
    ) {
        self.init(ServerFinder(configuration), channels: channels, onEvent: onEvent)
    }

    /// Subscribes wherever `finder` finds a server.
    init(
        _ finder: ServerFinder, channels: [String], onEvent: @escaping @Sendable (RedisSubscriptionEvent) -> Void
    ) {
        let mailbox = mailbox
        thread = OwnedThread("redis-subscription") {
            SubscriptionLoop(finder, channels, mailbox: mailbox, onEvent).run()
        }
    }

    deinit { mailbox.post(.close) }

    /// Ends the subscription: no event comes after this has returned. Inside `onEvent` it returns at once.
    package func close() {
        mailbox.post(.close)
        thread.join()
    }
}

/// What the thread of a subscription does.
private final class SubscriptionLoop {
    private let configuration: RedisConfiguration
    private let channels: [String]
    private let mailbox: ConnectionMailbox
    private let onEvent: @Sendable (RedisSubscriptionEvent) -> Void

    private var finder: ServerFinder
    private var session: Session?
    private var backoff = Backoff()
    private var unconfirmed = 0
    private var pingIsDue = false
    private var toldDisconnected = false

    init(
        _ finder: ServerFinder, _ channels: [String], mailbox: ConnectionMailbox,
        _ onEvent: @escaping @Sendable (RedisSubscriptionEvent) -> Void
    ) {
        self.finder = finder
        configuration = finder.configuration
        self.channels = channels
        self.mailbox = mailbox
        self.onEvent = onEvent
    }

    /// Returns when the subscription is closed.
    func run() {
        let watch = MasterWatch(configuration, notify: mailbox)
        defer { withExtendedLifetime(watch) {} }
        while true {
            var masterMayHaveChanged = false
            for message in mailbox.take() {
                switch message {
                case .masterMayHaveChanged: masterMayHaveChanged = true
                case .close: return
                case .call: preconditionFailure("a subscription gets no calls")
                }
            }
            do throws(RedisError) {
                if let session {
                    if masterMayHaveChanged { try finder.checkMaster(session) }
                    try serve(session)
                } else if backoff.mustWait(at: .now) {
                    mailbox.sleep(until: backoff.nextAttempt)
                } else {
                    try subscribe()
                }
            } catch {
                session = nil
                finder.leave()
                backoff.failed(at: .now)
                if !toldDisconnected { onEvent(.disconnected(error)) }
                toldDisconnected = true
            }
        }
    }

    private func subscribe() throws(RedisError) {
        let session = try finder.connect()
        session.output.append(RedisCommand(arguments: (["SUBSCRIBE"] + channels).map { Array($0.utf8) }))
        session.markProgress()  // its time to answer begins here
        unconfirmed = channels.count
        pingIsDue = false
        self.session = session
    }

    /// One turn: sends and receives what can be, and sleeps when nothing came.
    private func serve(_ session: Session) throws(RedisError) {
        try session.flush()
        if try session.receive({ reply throws(RedisError) in try take(reply) }) { return }

        let now = ContinuousClock.now
        let isAsked = pingIsDue || unconfirmed > 0
        // It is asked after half of the time, and may take the other half to answer.
        let limit = configuration.replyTimeout / 2
        if session.lastProgress.duration(to: now) >= limit {
            guard !isAsked else {
                throw RedisError(
                    .timedOut, "listen to \(configuration.displayName)",
                    "nothing came within \(configuration.replyTimeout); check the server and the network")
            }
            session.output.append(RedisCommand("PING"))
            session.markProgress()
            pingIsDue = true
            return
        }
        mailbox.sleep(until: session.lastProgress + limit, socket: session.socket, events: session.events)
    }

    /// Messages and confirmations (https://redis.io/docs/latest/develop/pubsub/#format-of-pushed-messages).
    private func take(_ reply: RedisValue) throws(RedisError) {
        pingIsDue = false
        if case .error(let text) = reply {
            throw RedisError(.server, "subscribe on \(configuration.displayName)", text, serverReply: text)
        }
        switch (reply.array?.first?.string, reply.array) {
        case ("message", .some(let parts)) where parts.count == 3:
            onEvent(.message(channel: parts[1].string ?? "", payload: parts[2].bytes ?? []))
        case ("subscribe", _):
            unconfirmed -= 1
            guard unconfirmed == 0 else { return }
            backoff.succeeded()
            toldDisconnected = false
            onEvent(.subscribed)
        case ("pong", _):
            return
        default:
            throw RedisError(
                .protocolError, "listen to \(configuration.displayName)", "a reply came that is no message: \(reply)")
        }
    }
}
