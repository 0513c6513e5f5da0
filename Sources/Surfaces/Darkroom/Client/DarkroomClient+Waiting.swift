/// Calls that wait until batches have finished.
extension DarkroomClient {
    /// Waits until a batch has finished, and returns its facts. Returns at once if the batch has already finished.
    ///
    /// While it waits, the client performs the same maintenance as heartbeats of workers, so that operations of lost
    /// workers are recovered even if no worker is running. If Redis is unreachable, the call tries again until Redis is
    /// reachable or `timeout` has passed.
    ///
    /// ```swift
    /// let done = try await client.wait(for: batch.id, timeout: .seconds(3600))
    /// if done.succeeded { print("all is developed") }
    /// ```
    /// - Parameters:
    ///   - id: the batch.
    ///   - timeout: the longest time to wait; nil means no limit.
    /// - Throws: ``DarkroomError`` with the code `timedOut`, `noSuchBatch` (also if the batch is forgotten during the
    ///   wait), `batchDamaged` or `redisRefused`; `CancellationError` as soon as the task is cancelled.
    public func wait(for id: BatchID, timeout: Duration? = nil) async throws -> BatchFacts {
        try await wait(for: [id], timeout: timeout)[0]  // one result per batch
    }

    /// Waits until all these batches have finished, see ``wait(for:timeout:)-(BatchID,_)``. Throws at once if one of
    /// the batches is damaged or not in Redis.
    /// - Returns: the facts of the batches, in the order of `ids`.
    public func wait(for ids: [BatchID], timeout: Duration? = nil) async throws -> [BatchFacts] {
        let attempted = "wait for " + (ids.count == 1 ? "batch \(ids[0])" : "\(ids.count) batches")
        return try await wait(BatchWait(ids, timeout: timeout, attempted: attempted, ignoresGone: false))
    }

    /// Waits until every batch that is now in Redis has finished, see ``wait(for:timeout:)-(BatchID,_)``.
    /// - Returns: the facts of the batches in the order of their submission, excluding batches that are forgotten
    ///   during the wait.
    public func waitForAll(timeout: Duration? = nil) async throws -> [BatchFacts] {
        let ids = try await batches().map(\.id)
        return try await wait(BatchWait(ids, timeout: timeout, attempted: "wait for all batches", ignoresGone: true))
    }

    private func wait(_ wait: BatchWait) async throws -> [BatchFacts] {
        do {
            return try await Answer.of { waits.add(wait, $0) }
        } catch let error as CancellationError {
            throw error
        } catch {
            throw DarkroomError(error, wait.attempted)
        }
    }
}
