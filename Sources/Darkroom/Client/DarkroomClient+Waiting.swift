/// Waiting until batches are over.
extension DarkroomClient {
    private static let pause = Duration.milliseconds(100)
    private static let heartbeatEvery = Duration.seconds(3)

    /// Waits until a batch has finished, and returns its facts: at once when it has.
    ///
    /// Meanwhile it does what a living worker would do for others, so that the batch also ends when no worker lives any
    /// more to recover the operations of dead ones. When Redis goes away, it is tried again until it is back.
    ///
    /// ```swift
    /// let done = try await client.wait(for: batch.id, timeout: .seconds(3600))
    /// if done.succeeded { print("all is developed") }
    /// ```
    /// - Parameter id: The batch.
    /// - Parameter timeout: how long to wait; nil is for ever.
    /// - Throws: ``DarkroomClientError`` with the code `timedOut`, or `batchGone` when the batch is not there or was
    ///   forgotten meanwhile, or `batchDamaged` when what Redis holds of it is out of bounds; `CancellationError` as soon as the task is cancelled.
    public func wait(for id: BatchID, timeout: Duration? = nil) async throws -> BatchFacts {
        try await wait(for: [id], timeout: timeout)[0]  // as many as were asked for
    }

    /// Waits until all these batches have finished; their facts in the same order.
    public func wait(for ids: [BatchID], timeout: Duration? = nil) async throws -> [BatchFacts] {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        var latest: [BatchID: BatchFacts] = [:]
        var nextHeartbeat = ContinuousClock.now
        while true {
            let open = Array(Set(ids.filter { latest[$0]?.state != .finished }))
            let beats = nextHeartbeat <= .now
            if let found = try await unlessAway({ [store] in try Self.read(open, in: store, beats: beats) }) {
                for facts in found { latest[facts.id] = facts }
                if let damaged = found.first(where: { !$0.damage.isEmpty }) {
                    throw DarkroomClientError.damaged(damaged)
                }
                if let gone = open.first(where: { id in !found.contains { $0.id == id } }) {
                    throw DarkroomClientError.gone(gone)
                }
                if beats { nextHeartbeat = .now + Self.heartbeatEvery }
            }
            let left = ids.filter { latest[$0]?.state != .finished }
            if left.isEmpty { return ids.compactMap { latest[$0] } }
            if let deadline, let timeout, deadline <= .now { throw DarkroomClientError.timedOut(left, timeout) }
            // Events may be lost, so that how it stands has to be read again and again in any case: a pause between two
            // readings, not a wait for something that could be signalled.
            try await Task.sleep(for: min(Self.pause, deadline.map { $0 - .now } ?? Self.pause))
        }
    }

    /// Waits until every batch that there is has finished.
    public func waitForAll(timeout: Duration? = nil) async throws -> [BatchFacts] {
        let ids = try await blocking { [store] in try store.batchIDs() }
        return try await wait(for: ids, timeout: timeout)
    }

    private static func read(_ ids: [BatchID], in store: BatchStore, beats: Bool) throws -> [BatchFacts] {
        if beats { _ = try store.maintain() }
        return try store.facts(of: ids)
    }

    /// Nil while Redis is away.
    private func unlessAway<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result? {
        do {
            return try await blocking(body)
        } catch let error as StoreError {
            guard error.isPassing else { throw error }
            return nil
        }
    }
}
