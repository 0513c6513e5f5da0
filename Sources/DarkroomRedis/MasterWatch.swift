/// Subscribes to the sentinels while a connection exists, and notifies its thread when the master may have changed.
///
/// Without it, the connection would wait for a lost master until the reply timeout. It would also write to a replaced
/// but running master until the sentinels make that server a replica, which takes about 10 s.
final class MasterWatch {
    private let subscription: RedisSubscription

    /// Returns nil if the configuration has no sentinels.
    init?(_ configuration: RedisConfiguration, notify mailbox: ConnectionMailbox) {
        guard let finder = ServerFinder(sentinelsOf: configuration) else { return nil }
        subscription = RedisSubscription(finder, channels: ["+switch-master"]) { event in
            switch event {
            // Messages before the subscription are lost, so the master may have changed.
            case .subscribed, .message: mailbox.post(.masterMayHaveChanged)
            case .disconnected: break
            }
        }
    }
}
