import Darkroom
import DarkroomConcurrency
import DarkroomLogging
import DarkroomRedis

/// Logs when Redis goes away and when it is back. It keeps a connection to Redis, so that this is also logged if nobody
/// uses the server.
struct OutageLog {
    private let subscription: RedisSubscription

    init(_ location: RedisLocation, _ logger: Logger) {
        let isAway = Locked(false)
        // The channel has few messages; they are not needed.
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
