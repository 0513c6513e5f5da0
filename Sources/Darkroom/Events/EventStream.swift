/// Everything that changes, as it changes: an endless sequence of what the events channel of Redis tells.
///
/// ```swift
/// for await observation in client.events(of: batch.id) {
///     switch observation {
///     case .subscribed, .missed: facts = try await client.facts(of: batch.id)  // read what you show
///     case .event(let event): print(event.kind)
///     case .disconnected(let error): print(error)
///     }
/// }
/// ```
///
/// Each iterator has a connection of its own, made when it is made and closed when it goes; what is told before is not
/// heard. Iterating never ends by itself: it ends when the task is cancelled. When Redis goes away, it is tried again until
/// it is back.
public struct EventStream: AsyncSequence, Sendable {
    /// What an observer is told.
    public enum Observation: Sendable, Equatable {
        /// From now on all is heard. It comes first, and again after each reconnect: what was told in between is lost, so
        /// read again what you show.
        case subscribed
        /// Something has changed.
        case event(Event)
        /// So many events were dropped here, since they came faster than they were taken: read again what you show.
        case missed(Int)
        /// The connection was lost, or cannot be made; `subscribed` comes when it is back.
        case disconnected(RedisError)
    }

    let redis: RedisConfiguration
    let channel: String
    /// The batch whose events are told; nil is all, and those of the cluster.
    let batch: BatchID?
    let bufferedEvents: Int

    /// Subscribes.
    public func makeAsyncIterator() -> Iterator {
        let buffer = EventBuffer(capacity: bufferedEvents)
        let batch = batch
        let subscription = RedisSubscription(redis, channels: [channel]) { event in
            switch event {
            case .subscribed: buffer.add(.subscribed)
            case .disconnected(let error): buffer.add(.disconnected(error))
            case .message(_, let payload):
                guard let event = Event(json: payload), batch == nil || event.batch == batch else { return }
                buffer.add(.event(event))
            }
        }
        return Iterator(buffer: buffer, subscription: subscription)
    }

    /// One observer. For one task at a time.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let buffer: EventBuffer
        /// Ends with the iterator.
        let subscription: RedisSubscription

        /// The next observation; nil when the task was cancelled.
        public mutating func next() async -> Observation? { await buffer.next() }
    }
}

extension DarkroomClient {
    /// Observes all batches and the cluster.
    /// - Parameter bufferedEvents: how many events wait for a slow observer before the oldest are dropped.
    public func events(buffering bufferedEvents: Int = 1000) -> EventStream {
        EventStream(
            redis: redis, channel: store.keys.eventsChannel, batch: nil, bufferedEvents: max(1, bufferedEvents))
    }

    /// Observes one batch, its operations and its photos.
    /// - Parameters:
    ///   - id: the batch; it need not be there yet.
    ///   - bufferedEvents: how many events wait for a slow observer before the oldest are dropped.
    public func events(of id: BatchID, buffering bufferedEvents: Int = 1000) -> EventStream {
        EventStream(
            redis: redis, channel: store.keys.eventsChannel, batch: id, bufferedEvents: max(1, bufferedEvents))
    }
}
