/// Controlling batches and the cluster.
///
/// Each call returns when Redis has the change. After this, no worker starts work that violates the new setting. Workers
/// receive a change notice within milliseconds; if it is lost, they apply the change with their next heartbeat. All calls are
/// idempotent.
///
/// Calls for a batch throw ``DarkroomError`` with the code `noSuchBatch` if the batch is not in Redis, and `batchFinished` or
/// `batchCancelled` if the change can have no effect.
extension DarkroomClient {
    /// Cancels a batch: queued photos never start, running photos are stopped, and final photos remain unchanged.
    /// - Parameters:
    ///   - id: the batch.
    ///   - reason: why the batch was cancelled, shown with its facts; may be empty.
    /// - Returns: false if the batch had already finished without being cancelled.
    @discardableResult
    public func cancel(_ id: BatchID, reason: String = "") async throws -> Bool {
        try await blocking("cancel batch \(id)") { [control] in
            if case .cancelled = try control.cancel(id, reason: reason) { true } else { false }
        }
    }

    /// Cancels some photos of a batch. The others continue.
    ///
    /// ```swift
    /// try await client.cancel([10...20, 31...31], of: batch.id)
    /// ```
    /// - Parameters:
    ///   - photos: indexes from 0. All must be fed, otherwise none is cancelled.
    ///   - id: the batch.
    /// - Returns: the number of cancelled photos. The others were final already.
    /// - Throws: ``DarkroomError``, also with the code `photosNotFed` or `photosOutsideList`.
    @discardableResult
    public func cancel(_ photos: PhotoRanges, of id: BatchID) async throws -> Int {
        try await blocking("cancel photos \(photos) of batch \(id)") { [control] in
            try control.cancel(photos, of: id).cancelled
        }
    }

    /// Cancels every unfinished batch.
    /// - Returns: the number of cancelled batches.
    @discardableResult
    public func cancelAll() async throws -> Int {
        try await blocking("cancel all batches") { [control] in try control.cancelAll() }
    }

    /// Suspends a batch: no download and no filtration of it starts. Running ones continue to their end.
    /// - Parameters:
    ///   - id: the batch.
    ///   - part: downloads, filtrations or both. The three settings are independent of each other.
    /// - Returns: false if this part was suspended already.
    @discardableResult
    public func suspend(_ id: BatchID, _ part: QueuePart = .everything) async throws -> Bool {
        try await blocking("suspend batch \(id)") { [control] in try control.suspend(id, part) }
    }

    /// Suspends all workers, see ``suspend(_:_:)``.
    /// - Returns: false if this part was suspended already.
    @discardableResult
    public func suspendAll(_ part: QueuePart = .everything) async throws -> Bool {
        try await blocking("suspend the cluster") { [control] in try control.suspend(nil, part) }
    }

    /// Resumes a suspended batch.
    /// - Parameters:
    ///   - id: the batch.
    ///   - part: `everything` also resumes downloads or filtrations that were suspended separately.
    /// - Returns: false if nothing was suspended.
    @discardableResult
    public func resume(_ id: BatchID, _ part: QueuePart = .everything) async throws -> Bool {
        try await blocking("resume batch \(id)") { [control] in try control.resume(id, part) }
    }

    /// Resumes all workers. Batches that were suspended individually stay suspended.
    /// - Returns: false if the workers were not suspended.
    @discardableResult
    public func resumeAll(_ part: QueuePart = .everything) async throws -> Bool {
        try await blocking("resume the cluster") { [control] in try control.resume(nil, part) }
    }

    /// Changes the priority of a batch for all further claims.
    /// - Returns: false if the batch already had this priority.
    @discardableResult
    public func prioritize(_ id: BatchID, _ priority: BatchPriority) async throws -> Bool {
        try await blocking("prioritize batch \(id)") { [control] in try control.prioritize(id, priority) }
    }

    /// Makes a batch wait until others have finished. If one of them is not in Redis or waits for this batch, no dependency is
    /// added.
    /// - Returns: the new dependencies, without batches that have finished already.
    /// - Throws: ``DarkroomError``, also with the code `batchStarted`, `circularDependency` or `busy`.
    @discardableResult
    public func addDependency(_ id: BatchID, on others: [BatchID]) async throws -> [BatchID] {
        try await blocking("make batch \(id) wait") { [control] in try control.depend(id, on: others).added }
    }

    /// Removes dependencies of a batch.
    /// - Returns: false if the batch waited for none of them.
    @discardableResult
    public func removeDependency(_ id: BatchID, on others: [BatchID]) async throws -> Bool {
        try await blocking("make batch \(id) wait no more") { [control] in try control.removeDependency(id, on: others)
        }
    }

    /// Makes all workers run these photos first, for example the visible rows of a table. A new focus of a batch replaces the
    /// previous one.
    ///
    /// ```swift
    /// try await client.focus(batch.id, 40...60, only: true)
    /// ```
    /// - Parameters:
    ///   - id: the batch.
    ///   - photos: indexes from 0. Photos that are fed later also run first.
    ///   - only: stops the other photos of the batch until ``clearFocus(_:)``.
    /// - Throws: ``DarkroomError``, also with the code `photosOutsideList`.
    public func focus(_ id: BatchID, _ photos: ClosedRange<Int>, only: Bool = false) async throws {
        try await blocking("focus batch \(id)") { [control] in _ = try control.focus(id, photos, only: only) }
    }

    /// Removes the focus: the photos of the batch run in the order of the list again.
    /// - Returns: false if the batch had no focus.
    @discardableResult
    public func clearFocus(_ id: BatchID) async throws -> Bool {
        try await blocking("clear the focus of batch \(id)") { [control] in try control.clearFocus(id) }
    }

    /// Runs only the failed photos of a batch again. A finished batch begins a new round. While a batch executes, failed photos of
    /// operations that have not ended are skipped.
    /// - Parameters:
    ///   - id: the batch.
    ///   - reasons: retry only photos that failed for one of these reasons; empty for all.
    ///   - overwrite: take the output folder back if another batch has taken it.
    /// - Throws: ``DarkroomError``, also with the code `outputTaken` or `busy`.
    @discardableResult
    public func retry(
        _ id: BatchID, reasons: [FailureReason] = [], overwrite: Bool = false
    ) async throws -> RetriedPhotos {
        try await blocking("retry batch \(id)") { [control] in
            try control.retry(id, reasons: reasons, overwrite: overwrite)
        }
    }

    /// Sets the limits of each worker; nil leaves a limit unchanged.
    /// - Parameters:
    ///   - downloads: concurrent downloads of each worker, 1 to 1024.
    ///   - filtrations: concurrent filtrations of each worker, 1 to 256.
    /// - Throws: ``DarkroomError`` with the code `invalidOptions` for another number.
    public func setLimits(downloads: Int? = nil, filtrations: Int? = nil) async throws {
        try await blocking("limit the workers") { [control] in
            try control.setLimits(downloads: downloads, filtrations: filtrations)
        }
    }

    /// Removes the limits: each worker uses the limits that it was started with.
    public func clearLimits() async throws {
        try await blocking("clear the limits") { [control] in try control.clearLimits() }
    }

    /// Removes a batch from Redis. Its photos remain. A batch that is not in Redis is no error.
    /// - Parameters:
    ///   - id: the batch.
    ///   - unfinished: true to remove the batch even if it has not finished. Workers discard their work for it.
    /// - Throws: ``DarkroomError`` with the code `batchUnfinished`.
    public func forget(_ id: BatchID, unfinished: Bool = false) async throws {
        let state = try await blocking("forget batch \(id)") { [control] in
            try control.forget(id, unfinished: unfinished)
        }
        guard let state else { return }
        throw DarkroomError(
            .batchUnfinished, "forget batch \(id)",
            "batch \(id) is \(state.rawValue): wait until it has finished, or forget it although it has not")
    }
}
