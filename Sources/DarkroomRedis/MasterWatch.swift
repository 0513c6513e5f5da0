/// Listens to the sentinels while a connection exists, and gives its thread a notice whenever the master may have changed.
///
/// Without it, a master whose machine has vanished would be waited for until the reply timeout, and one that was replaced
/// while it lives would be written to until the sentinels make it a replica, which is after some ten seconds.
final class MasterWatch {
    private let subscription: RedisSubscription

    /// Of sentinels only: nil for another address.
    init?(_ configuration: RedisConfiguration, notify mailbox: ConnectionMailbox) {
        guard let finder = ServerFinder(sentinelsOf: configuration) else { return nil }
        subscription = RedisSubscription(finder, channels: ["+switch-master"]) { event in
            switch event {
            // What was said before it listened is not known.
            case .subscribed, .message: mailbox.post(.masterMayHaveChanged)
            case .disconnected: break
            }
        }
    }
}
