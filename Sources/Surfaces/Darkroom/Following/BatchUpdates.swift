import DarkroomRedis

/// An update of a batch from ``DarkroomClient/follow(_:)``.
public enum BatchUpdate: Sendable, Equatable {
    /// The present facts in Redis. Sent at the beginning, whenever events may have been missed, and when the batch has
    /// finished.
    case facts(BatchFacts)
    /// The batch has changed. The next `facts` update includes the change; so does ``DarkroomClient/facts(of:)``.
    case event(BatchEvent)
    /// Redis is unreachable. When Redis is reachable again, the client sends `facts`, even if they are unchanged.
    case disconnected(DarkroomError)
    /// The batch is not in Redis any more. This is the last update.
    case forgotten
}

/// The updates of a batch, from its current facts until it has finished; see ``DarkroomClient/follow(_:)``.
public struct BatchUpdates: AsyncSequence, Sendable {
    let client: DarkroomClient
    let id: BatchID

    /// Starts following the batch.
    public func makeAsyncIterator() -> Iterator { Iterator(client, id) }

    /// An observer of the batch, which keeps a connection until the sequence ends. Only one task at a time may use it.
    public struct Iterator: AsyncIteratorProtocol {
        /// The action of the next call of `next`.
        private enum Phase { case reading, listening, ended }

        /// The interval at which the facts are read again.
        private static let readingInterval = Duration.seconds(3)
        private static let pauseWhileAway = Duration.milliseconds(100)

        private let client: DarkroomClient
        private let id: BatchID
        private var phase = Phase.reading
        /// The subscription; nil before the facts are first read, and after the last update.
        private var listener: EventListener?
        /// The facts that were reported last; nil before the first report.
        private var last: BatchFacts?
        /// True after `disconnected` was reported, until the facts are read again.
        private var hasReportedOutage = false

        init(_ client: DarkroomClient, _ id: BatchID) {
            self.client = client
            self.id = id
        }

        /// Returns the next update; nil after the last update.
        /// - Throws: ``DarkroomError`` or `CancellationError`, see ``DarkroomClient/follow(_:)``.
        public mutating func next() async throws -> BatchUpdate? {
            while true {
                let update: BatchUpdate?
                switch phase {
                case .ended: return nil
                case .reading: update = try await read()
                case .listening: update = try await listen()
                }
                if let update { return update }
            }
        }

        /// Takes the next update from the listener. Returns nil if there is nothing to report.
        private mutating func listen() async throws -> BatchUpdate? {
            guard let news = await listener?.buffer.next() else { throw CancellationError() }
            switch news {
            case .subscribed, .missed: phase = .reading
            case .disconnected(let error):
                guard error.isTransient else {
                    _ = end(.disconnected(error))
                    throw error
                }
                return outage(error)
            case .event(let event):
                if event.kind == .forgotten { return end(.forgotten) }
                // A completion is the last event of a round. The facts are read, because a retry may have started a
                // round.
                if case .completion = event.kind { phase = .reading }
                return .event(event)
            }
            return nil
        }

        /// Reads the facts. Returns nil if there is nothing to report.
        private mutating func read() async throws -> BatchUpdate? {
            let facts: BatchFacts?
            do {
                facts = try await client.blocking("follow batch \(id)") { [client, id] in
                    _ = try client.store.maintain()
                    return try client.store.facts(of: id)
                }
            } catch let error as DarkroomError where error.isTransient && listener != nil {
                if let update = outage(error) { return update }
                // There is no signal when Redis becomes reachable again, so the client retries after a pause.
                try await Task.sleep(for: Self.pauseWhileAway)
                return nil
            }
            let wasAway = hasReportedOutage
            hasReportedOutage = false
            guard let facts else {
                guard listener != nil else { throw DarkroomError.gone(id, "follow batch \(id)") }
                return end(.forgotten)
            }
            guard facts.damage.isEmpty else { throw DarkroomError.damaged(facts, "follow batch \(id)") }
            if facts.state == .finished { return end(.facts(facts)) }
            phase = .listening
            guard listener != nil else {
                // The first facts are reported after the subscription is confirmed, so that no later event is missed.
                listener = EventListener(client.location, of: id, capacity: 1000, remindsEvery: Self.readingInterval)
                return nil
            }
            defer { last = facts }
            return facts == last && !wasAway ? nil : .facts(facts)
        }

        /// Reports an outage once, when it begins.
        private mutating func outage(_ error: DarkroomError) -> BatchUpdate? {
            defer { hasReportedOutage = true }
            return hasReportedOutage || last == nil ? nil : .disconnected(error)
        }

        private mutating func end(_ update: BatchUpdate) -> BatchUpdate {
            phase = .ended
            listener = nil
            return update
        }
    }
}

extension DarkroomClient {
    /// Follows a batch until it has finished or is forgotten.
    ///
    /// ```swift
    /// for try await update in client.follow(batch.id) {
    ///     if case .facts(let facts) = update { print(facts.counts.done, "of", facts.photos) }
    /// }
    /// ```
    ///
    /// The first update is the present ``BatchUpdate/facts(_:)``. All later events follow. The facts are sent again
    /// whenever events may have been missed: after an outage, and if the loop is more than 1,000 events behind. Every 3
    /// seconds, changed facts are also sent. A `facts` update may already include events that follow it. The last
    /// update is the facts of the finished batch, or ``BatchUpdate/forgotten``; then the loop ends. If the batch has
    /// already finished, its facts are the only update.
    ///
    /// While the loop runs, the client performs the maintenance that heartbeats of workers perform, and that
    /// ``wait(for:timeout:)-(BatchID,_)`` also performs.
    ///
    /// The loop throws ``DarkroomError`` with the code `noSuchBatch` if the batch is not in Redis at the beginning,
    /// `redisUnreachable` if Redis is unreachable at the beginning (later, the client retries), `batchDamaged`, or
    /// `redisRefused`, for example if the user may not subscribe to events. It throws `CancellationError` if its task
    /// is cancelled.
    public func follow(_ id: BatchID) -> BatchUpdates { BatchUpdates(client: self, id: id) }
}
