/// Subscribes to messages of the sentinels as long as a connection exists, and notifies the connection's thread when
/// the master may have changed.
///
/// Without this class, the connection would wait until the reply timeout if the master is lost. If the master is
/// replaced but still running, the connection would write to it until the sentinels make it a replica, which takes
/// about 10 s.
final class MasterWatch {
    private let subscription: RedisSubscription

    /// Returns nil if the configuration has no sentinels.
    init?(_ configuration: RedisConfiguration, notify mailbox: ConnectionMailbox) {
        guard let finder = ServerFinder(sentinelsOf: configuration) else { return nil }
        subscription = RedisSubscription(finder, channels: ["+switch-master"]) { event in
            switch event {
            // Messages sent before the subscription are lost, so the master may have changed.
            case .subscribed, .message: mailbox.post(.masterMayHaveChanged)
            case .disconnected: break
            }
        }
    }
}
