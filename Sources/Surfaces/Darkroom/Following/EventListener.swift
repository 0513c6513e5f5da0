import DarkroomConcurrency
import DarkroomRedis

/// A subscription to the events channel, with a buffer. The subscription ends when the listener is released.
final class EventListener: Sendable {
    let buffer: EventBuffer
    private let subscription: RedisSubscription
    private let reminder: PeriodicThread?

    /// - Parameters:
    ///   - batch: the batch whose events are buffered; nil for all batches.
    ///   - capacity: the number of events that the buffer can hold; a full buffer drops the oldest event.
    ///   - interval: the interval at which a waiting observer is woken to read the facts again; nil for never.
    init(_ location: RedisLocation, of batch: BatchID? = nil, capacity: Int, remindsEvery interval: Duration? = nil) {
        let buffer = EventBuffer(capacity: capacity)
        self.buffer = buffer
        subscription = RedisSubscription(location.redis, channels: [location.keys.eventsChannel]) { event in
            switch event {
            case .subscribed: buffer.add(.subscribed)
            case .disconnected(let error): buffer.add(.disconnected(DarkroomError(error, "listen to \(location)")))
            case .message(_, let payload):
                guard let event = BatchEvent(json: payload), batch == nil || event.batch == batch else { return }
                buffer.add(.event(event))
            }
        }
        reminder = interval.map { PeriodicThread("darkroom-follow", every: $0) { buffer.remind() } }
    }
}
