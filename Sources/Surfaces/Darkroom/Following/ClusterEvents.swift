/// An update from ``DarkroomClient/events()``.
public enum ClusterUpdate: Sendable, Equatable {
    /// All events from now on are reported. Sent at the beginning and after each reconnect. Events before a reconnect
    /// may be lost, so read the displayed data again.
    case subscribed
    /// A batch, or the cluster, has changed.
    case event(BatchEvent)
    /// This number of events was dropped, because the loop was too slow. A program that displays the state must read
    /// the state again.
    case missed(Int)
    /// Redis is unreachable. The client retries, and sends `subscribed` when Redis is reachable again.
    case disconnected(DarkroomError)
}

/// The updates of all batches and of the cluster; see ``DarkroomClient/events()``.
public struct ClusterEvents: AsyncSequence, Sendable {
    let location: RedisLocation

    /// Subscribes with a new connection.
    public func makeAsyncIterator() -> Iterator { Iterator(listener: EventListener(location, capacity: 1000)) }

    /// An observer. Only one task at a time may use it.
    public struct Iterator: AsyncIteratorProtocol {
        let listener: EventListener

        /// Returns the next update; nil if the task is cancelled.
        public mutating func next() async -> ClusterUpdate? { await listener.buffer.next() }
    }
}

extension DarkroomClient {
    /// Observes all batches and the cluster. The sequence ends only when its task is cancelled. To follow a single
    /// batch until it has finished, use ``follow(_:)``.
    ///
    /// ```swift
    /// for await update in client.events() {
    ///     switch update {
    ///     case .subscribed, .missed: batches = try await client.batches()  // read the displayed data again
    ///     case .event(let event): print(event.kind)
    ///     case .disconnected(let error): print(error)
    ///     }
    /// }
    /// ```
    ///
    /// If the loop is slow, up to 1,000 events are buffered. If the buffer is full, the oldest events are dropped, and
    /// their number is delivered as `.missed`. If Redis is unreachable, the client retries without a time limit.
    public func events() -> ClusterEvents { ClusterEvents(location: location) }
}
