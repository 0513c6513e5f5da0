import DarkroomConcurrency

/// Calls that wait until batches have finished.
extension DarkroomClient {
    /// Waits until a batch has finished, and returns its facts. Returns at once if the batch has already finished.
    ///
    /// While it waits, the client performs the maintenance that heartbeats of workers do, so that operations of lost
    /// workers are recovered even if no worker is running. If Redis is unreachable, it retries without a limit.
    ///
    /// ```swift
    /// let done = try await client.wait(for: batch.id, timeout: .seconds(3600))
    /// if done.succeeded { print("all is developed") }
    /// ```
    /// - Parameters:
    ///   - id: the batch.
    ///   - timeout: the longest time to wait; nil means without a limit.
    /// - Throws: ``DarkroomError`` with the code `timedOut`, `noSuchBatch` (also if the batch is forgotten during the
    ///   wait), `batchDamaged` or `redisRefused`; `CancellationError` as soon as the task is cancelled.
    public func wait(for id: BatchID, timeout: Duration? = nil) async throws -> BatchFacts {
        try await wait(for: [id], timeout: timeout)[0]  // one result per batch
    }

    /// Waits until all these batches have finished; see ``wait(for:timeout:)-(BatchID,_)``.
    /// - Returns: the facts of the batches, in the order of `ids`.
    public func wait(for ids: [BatchID], timeout: Duration? = nil) async throws -> [BatchFacts] {
        let attempted = "wait for " + (ids.count == 1 ? "batch \(ids[0])" : "\(ids.count) batches")
        do {
            // Uses a new thread, because the wait may take days and the client has only a few threads.
            return try await Answer.of { answer in
                _ = OwnedThread("darkroom-wait") { [self] in
                    answer.give(
                        Result { try waitBlocking(for: ids, timeout, attempted, isOver: { answer.isGiven }) })
                }
            }
        } catch let error as CancellationError {
            throw error
        } catch {
            throw DarkroomError(error, attempted)
        }
    }

    /// Waits until all batches that are in Redis now have finished; see ``wait(for:timeout:)-(BatchID,_)``.
    /// - Returns: the facts of the batches, earliest submission first.
    public func waitForAll(timeout: Duration? = nil) async throws -> [BatchFacts] {
        let ids = try await blocking("read the batches") { [store] in try store.batchIDs() }
        return try await wait(for: ids, timeout: timeout)
    }

    /// - Parameter isOver: returns true if the caller has stopped waiting.
    private func waitBlocking(
        for ids: [BatchID], _ timeout: Duration?, _ attempted: String, isOver: @escaping () -> Bool
    ) throws -> [BatchFacts] {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        func late(_ open: [BatchID]) -> DarkroomError {
            DarkroomError(
                .timedOut, attempted,
                "batch \(HumanText.list(open.map(\.description))) has not finished within \(timeout ?? .zero); "
                    + "darkroom status shows its problems")
        }
        func check() throws {
            if isOver() { throw CancellationError() }
            if let deadline, deadline <= .now { throw late(ids) }
        }
        var waiter = BatchWaiter(self, onAway: check)
        let wanted = Array(Set(ids))
        let found = try waiter.asking { try store.facts(of: wanted) }
        if let gone = wanted.first(where: { id in !found.contains { $0.id == id } }) {
            throw DarkroomError.gone(gone, attempted)
        }
        let outcome = try waiter.wait(for: found, timeout: deadline.map { $0 - .now }) { _, _ in
            if isOver() { throw CancellationError() }
            return false
        }
        switch outcome {
        case .finished(let batches, _):
            if let damaged = batches.first(where: { !$0.damage.isEmpty }) {
                throw DarkroomError.damaged(damaged, attempted)
            }
            let byID = Dictionary(uniqueKeysWithValues: batches.map { ($0.id, $0) })
            return ids.compactMap { byID[$0] }
        case .timedOut(let batches, _):
            throw late(batches.filter { $0.state != .finished }.map(\.id))
        }
    }
}
