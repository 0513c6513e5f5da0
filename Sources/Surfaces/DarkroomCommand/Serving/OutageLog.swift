import Darkroom
import DarkroomConcurrency
import DarkroomLogging
import DarkroomRedis

/// Logs when Redis stops answering and when it answers again. Keeps a connection to Redis, so that an outage is logged
/// also while the web server gets no requests.
struct OutageLog {
    private let subscription: RedisSubscription

    init(_ location: RedisLocation, _ logger: Logger) {
        let isAway = Locked(false)
        // The messages are ignored; this channel is used because it has few messages.
        subscription = RedisSubscription(location.redis, channels: [location.keys.controlChannel]) { event in
            switch event {
            case .disconnected(let error):
                isAway.withLock { $0 = true }
                logger.warning("Redis does not answer", ["detail": .text(error.message)])
            case .subscribed: if isAway.exchange(false) { logger.info("Redis answers again") }
            case .message: break
            }
        }
    }

    func close() { subscription.close() }
}
