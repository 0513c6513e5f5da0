/// Steering: what an operation queue of one device has for its operations, over all workers.
///
/// Each call returns when it stands in Redis. Nothing begins against it from then on; what runs is told within milliseconds.
extension DarkroomClient {
    /// Cancels a batch, for good: what of it has not begun never will, what runs is stopped, what is done stays.
    /// - Parameter id: The batch.
    /// - Parameter reason: why, for those who look at the batch.
    /// - Returns: false when it was over before, and not by a cancel.
    @discardableResult
    public func cancel(_ id: BatchID, reason: String = "") async throws -> Bool {
        try await blocking { [control] in
            if case .cancelled = try control.cancel(id, reason: reason) { true } else { false }
        }
    }

    /// Cancels some photos of a batch; the others go on. All must be fed, otherwise none is cancelled.
    ///
    /// ```swift
    /// try await client.cancel(PhotoRanges(parsing: "10-20,31"), of: batch.id)
    /// ```
    @discardableResult
    public func cancel(_ photos: PhotoRanges, of id: BatchID) async throws -> PhotosCancelled {
        try await blocking { [control] in try control.cancel(photos, of: id) }
    }

    /// Cancels every batch that has not finished.
    /// - Returns: how many were.
    @discardableResult
    public func cancelAll() async throws -> Int { try await blocking { [control] in try control.cancelAll() } }

    /// Suspends a batch: no download and no filtration of it begins; what runs goes on to its end.
    /// - Parameter id: The batch.
    /// - Parameter part: only downloads or only filtrations, if so told.
    /// - Returns: false when it was suspended so before.
    @discardableResult
    public func suspend(_ id: BatchID, _ part: QueuePart = .everything) async throws -> Bool {
        try await blocking { [control] in try control.suspend(id, part) }
    }

    /// Suspends all workers.
    /// - Returns: false when they were suspended so before.
    @discardableResult
    public func suspendAll(_ part: QueuePart = .everything) async throws -> Bool {
        try await blocking { [control] in try control.suspend(nil, part) }
    }

    /// Lets a batch go on; photos that are downloaded need only their filter.
    /// - Parameter id: The batch.
    /// - Parameter part: `everything` lifts whatever is suspended of it.
    /// - Returns: false when nothing of it was suspended.
    @discardableResult
    public func resume(_ id: BatchID, _ part: QueuePart = .everything) async throws -> Bool {
        try await blocking { [control] in try control.resume(id, part) }
    }

    /// Lets all workers go on. Batches that were suspended by themselves stay so.
    /// - Returns: false when they were not suspended.
    @discardableResult
    public func resumeAll(_ part: QueuePart = .everything) async throws -> Bool {
        try await blocking { [control] in try control.resume(nil, part) }
    }

    /// Makes a batch more or less urgent, from the next claim on.
    /// - Returns: false when it had the priority before.
    @discardableResult
    public func prioritize(_ id: BatchID, _ priority: Priority) async throws -> Bool {
        try await blocking { [control] in try control.prioritize(id, priority) }
    }

    /// Makes a batch wait until others are over. One that has started cannot be made to wait, and a circle is refused.
    @discardableResult
    public func depend(_ id: BatchID, on others: [BatchID]) async throws -> Depended {
        try await blocking { [control] in try control.depend(id, on: others) }
    }

    /// Takes it back that a batch waits for others.
    /// - Returns: false when it waited for none of them.
    @discardableResult
    public func undepend(_ id: BatchID, from others: [BatchID]) async throws -> Bool {
        try await blocking { [control] in try control.undepend(id, from: others) }
    }

    /// Makes these photos the next that run anywhere: the rows of a table that are seen. The newest focus of a batch
    /// replaces the one before.
    ///
    /// ```swift
    /// try await client.focus(batch.id, 40...60, only: true)
    /// ```
    /// - Parameters:
    ///   - id: the batch.
    ///   - photos: indexes from 0; some may not be fed yet.
    ///   - only: the others stop, and do not begin until ``clearFocus(_:)``.
    @discardableResult
    public func focus(_ id: BatchID, _ photos: ClosedRange<Int>, only: Bool = false) async throws -> FocusSet {
        try await blocking { [control] in try control.focus(id, photos, only: only) }
    }

    /// Lets all photos of a batch run in their order again.
    /// - Returns: false when it had no focus.
    @discardableResult
    public func clearFocus(_ id: BatchID) async throws -> Bool {
        try await blocking { [control] in try control.clearFocus(id) }
    }

    /// Runs the failed photos of a batch again, and only those; one that has finished executes again.
    /// - Parameter id: The batch.
    /// - Parameter reasons: only photos that failed for one of these; empty for all.
    /// - Parameter overwrite: take the output folder back where another batch has taken it since.
    @discardableResult
    public func retry(
        _ id: BatchID, reasons: [FailureReason] = [], overwrite: Bool = false
    ) async throws -> Retried {
        try await blocking { [control] in try control.retry(id, reasons: reasons, overwrite: overwrite) }
    }

    /// Limits what each worker does at once, while it runs; nil leaves a limit as it is.
    public func setLimits(downloads: Int? = nil, filtrations: Int? = nil) async throws {
        try await blocking { [control] in try control.setLimits(downloads: downloads, filtrations: filtrations) }
    }

    /// Takes the limits away: each worker does as much at once as it was started for.
    public func clearLimits() async throws { try await blocking { [control] in try control.clearLimits() } }

    /// Forgets a batch: removes it from Redis; the photos stay.
    /// - Parameter id: The batch.
    /// - Parameter unfinished: also one that has not finished; its workers drop what they hold of it.
    /// - Throws: `ControlError` when it has not finished and only a finished one was to be forgotten.
    public func forget(_ id: BatchID, unfinished: Bool = false) async throws {
        try await blocking { [store] in
            while true {
                switch try store.perform(store.forget(id, unfinished: unfinished)) {
                case .more: continue
                case .forgotten, .gone: return
                case .unfinished(let state): throw DarkroomClientError.unfinished(id, state)
                }
            }
        }
    }
}
