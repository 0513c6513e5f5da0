import DarkroomConcurrency
import Foundation

package enum RedisSubscriptionEvent: Sendable, Equatable {
    /// The server has confirmed all channels, so messages published from now on are received. This event is sent again
    /// after every reconnection. Messages published while the subscription was disconnected are lost, so the receiver
    /// must read the current state again.
    case subscribed
    case message(channel: String, payload: [UInt8])
    /// The connection was lost, or could not be established. The subscription reconnects by itself. Further failures
    /// before the next `subscribed` are not reported.
    case disconnected(RedisError)
}

/// A connection that subscribes to channels and reconnects by itself.
///
/// Connection attempts are 25 ms to 0.5 s apart. While no data arrives, the subscription sends PING, so that it detects
/// a lost connection within ``RedisConfiguration/replyTimeout``. If the configuration has sentinels, the subscription
/// uses their current master, and switches to a new master when the sentinels announce one.
package final class RedisSubscription: Sendable {
    private let mailbox = ConnectionMailbox()
    private let thread: OwnedThread

    /// Subscribes to `channels`. `onEvent` is called on the subscription's thread, and must return quickly.
    package convenience init(
        _ configuration: RedisConfiguration, channels: [String],
        onEvent: @escaping @Sendable (RedisSubscriptionEvent) -> Void
    ) {
        self.init(ServerFinder(configuration), channels: channels, onEvent: onEvent)
    }

    /// Subscribes to channels of the server that `finder` returns.
    init(
        _ finder: ServerFinder, channels: [String], onEvent: @escaping @Sendable (RedisSubscriptionEvent) -> Void
    ) {
        let mailbox = mailbox
        thread = OwnedThread("redis-subscription") {
            SubscriptionLoop(finder, channels, mailbox: mailbox, onEvent).run()
        }
    }

    /// Subscribes to the sentinels, and posts `masterMayHaveChanged` when they announce a new master. Returns nil if
    /// the configuration has no sentinels.
    ///
    /// Without this subscription, a connection would wait for a lost master until the reply timeout. After a failover,
    /// the connection would also write to the old master, which may run for about 10 s before the sentinels make it a
    /// replica.
    static func ofMaster(
        _ configuration: RedisConfiguration, notify mailbox: ConnectionMailbox
    ) -> RedisSubscription? {
        guard let finder = ServerFinder(sentinelsOf: configuration) else { return nil }
        return RedisSubscription(finder, channels: ["+switch-master"]) { event in
            // Announcements before the subscription are lost, so the master may have changed although no announcement
            // was received.
            if case .disconnected = event { return }
            mailbox.post(.masterMayHaveChanged)
        }
    }

    deinit { mailbox.post(.close) }

    /// Ends the subscription. After this function has returned, `onEvent` is not called again. If this function is
    /// called inside `onEvent`, it returns at once.
    package func close() {
        mailbox.post(.close)
        thread.join()
    }
}

/// The loop that runs on a subscription's thread.
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
    private var reportedDisconnected = false

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
        let watch = RedisSubscription.ofMaster(configuration, notify: mailbox)
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
                if !reportedDisconnected { onEvent(.disconnected(error)) }
                reportedDisconnected = true
            }
        }
    }

    private func subscribe() throws(RedisError) {
        let session = try finder.connect()
        session.output.append(RedisCommand(["SUBSCRIBE"] + channels))
        session.markProgress()  // starts the reply timeout
        unconfirmed = channels.count
        pingIsDue = false
        self.session = session
    }

    /// Sends and receives once without blocking, and sleeps if no bytes were received.
    private func serve(_ session: Session) throws(RedisError) {
        try session.flush()
        if try session.receive({ reply throws(RedisError) in try take(reply) }) { return }

        let now = ContinuousClock.now
        let isWaitingForReply = pingIsDue || unconfirmed > 0
        // PING is sent after half of the timeout. The server has the other half to reply.
        let limit = configuration.replyTimeout / 2
        if session.lastProgress.duration(to: now) >= limit {
            guard !isWaitingForReply else {
                throw RedisError(
                    .timedOut, "listen to \(configuration.displayName)",
                    "no data within \(configuration.replyTimeout); check the server and the network")
            }
            session.output.append(RedisCommand("PING"))
            session.markProgress()
            pingIsDue = true
            return
        }
        mailbox.sleep(until: session.lastProgress + limit, socket: session.socket, events: session.events)
    }

    /// Handles messages and confirmations (https://redis.io/docs/latest/develop/pubsub/#format-of-pushed-messages).
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
            reportedDisconnected = false
            onEvent(.subscribed)
        case ("pong", _):
            return
        default:
            throw RedisError(
                .protocolError, "listen to \(configuration.displayName)", "the reply is not a message: \(reply)")
        }
    }
}
