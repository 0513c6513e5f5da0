/// What ``DarkroomClient/events()`` reports.
public enum ClusterUpdate: Sendable, Equatable {
    /// From now on every event arrives. It comes first, and again after each reconnect: events in between are lost, so read again
    /// what you show.
    case subscribed
    /// A batch, or the cluster, has changed.
    case event(BatchEvent)
    /// So many events were dropped here, because they came faster than they were taken: read again what you show.
    case missed(Int)
    /// Redis cannot be reached. The client tries again; `subscribed` comes when Redis is back.
    case disconnected(DarkroomError)
}

/// What happens to all batches and to the cluster, without an end, see ``DarkroomClient/events()``.
public struct ClusterEvents: AsyncSequence, Sendable {
    let location: RedisLocation

    /// Subscribes, with a connection of its own.
    public func makeAsyncIterator() -> Iterator { Iterator(listener: EventListener(location, capacity: 1000)) }

    /// One observer. It is for one task at a time.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let listener: EventListener

        /// Returns the next update; nil if the task is cancelled.
        public mutating func next() async -> ClusterUpdate? { await listener.buffer.next() }
    }
}

extension DarkroomClient {
    /// Observes all batches and the cluster. The sequence ends only when its task is cancelled; to follow one batch to its end,
    /// use ``follow(_:)``.
    ///
    /// ```swift
    /// for await update in client.events() {
    ///     switch update {
    ///     case .subscribed, .missed: batches = try await client.batches()  // read what you show
    ///     case .event(let event): print(event.kind)
    ///     case .disconnected(let error): print(error)
    ///     }
    /// }
    /// ```
    ///
    /// Up to 1,000 events wait for a slow loop. While Redis is away, the client keeps trying.
    public func events() -> ClusterEvents { ClusterEvents(location: location) }
}
