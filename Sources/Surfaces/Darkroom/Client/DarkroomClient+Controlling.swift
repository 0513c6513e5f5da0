/// Calls that control batches and the cluster.
///
/// Each call returns when the change is in Redis. After the return, no worker can claim an operation that the change
/// forbids. Workers receive a change notice within milliseconds, and apply the change to the operations that they hold.
/// If the notice is lost, workers apply the change with their next heartbeat (3 s). All calls are idempotent.
///
/// Calls for a batch throw ``DarkroomError`` with the code `noSuchBatch` if the batch is not in Redis, and with the
/// code `batchFinished` or `batchCancelled` if the change would have no effect.
extension DarkroomClient {
    /// Cancels a batch: queued photos never start, running photos are stopped, and final photos remain unchanged.
    /// - Parameters:
    ///   - id: the batch.
    ///   - reason: why the batch was cancelled; part of the facts of the batch. May be empty.
    /// - Returns: false if the batch had already finished without being cancelled.
    @discardableResult
    public func cancel(_ id: BatchID, reason: String = "") async throws -> Bool {
        try await blocking("cancel batch \(id)") { [control] in
            if case .cancelled = try control.cancel(id, reason: reason) { true } else { false }
        }
    }

    /// Cancels some photos of a batch. The other photos continue.
    ///
    /// ```swift
    /// try await client.cancel([10...20, 31...31], of: batch.id)
    /// ```
    /// - Parameters:
    ///   - photos: indexes from 0. If one of these photos is not fed yet, no photo is cancelled.
    ///   - id: the batch.
    /// - Returns: the number of cancelled photos. Photos that were already final are not counted.
    /// - Throws: ``DarkroomError``, for example with the code `photosNotFed` or `photosOutsideList`.
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

    /// Suspends a batch: no further download or filtration starts. Running downloads and filtrations are completed.
    /// - Parameters:
    ///   - id: the batch.
    ///   - part: downloads, filtrations or everything. Redis stores a separate flag for each of the three.
    /// - Returns: false if this part was already suspended.
    @discardableResult
    public func suspend(_ id: BatchID, _ part: QueuePart = .everything) async throws -> Bool {
        try await blocking("suspend batch \(id)") { [control] in try control.suspend(id, part) }
    }

    /// Suspends this part of the work in all workers; see ``suspend(_:_:)``.
    /// - Returns: false if this part was already suspended.
    @discardableResult
    public func suspendAll(_ part: QueuePart = .everything) async throws -> Bool {
        try await blocking("suspend the cluster") { [control] in try control.suspend(nil, part) }
    }

    /// Resumes a suspended batch.
    /// - Parameters:
    ///   - id: the batch.
    ///   - part: the part to resume. `everything` also resumes downloads or filtrations that were suspended separately.
    /// - Returns: false if nothing was suspended.
    @discardableResult
    public func resume(_ id: BatchID, _ part: QueuePart = .everything) async throws -> Bool {
        try await blocking("resume batch \(id)") { [control] in try control.resume(id, part) }
    }

    /// Resumes this part of the work in all workers. Batches that were suspended individually stay suspended.
    /// - Returns: false if the workers were not suspended.
    @discardableResult
    public func resumeAll(_ part: QueuePart = .everything) async throws -> Bool {
        try await blocking("resume the cluster") { [control] in try control.resume(nil, part) }
    }

    /// Changes the priority of a batch. The change affects all later claims.
    /// - Returns: false if the batch already had this priority.
    @discardableResult
    public func prioritize(_ id: BatchID, _ priority: BatchPriority) async throws -> Bool {
        try await blocking("prioritize batch \(id)") { [control] in try control.prioritize(id, priority) }
    }

    /// Makes a batch wait until other batches have finished. If one of these batches is not in Redis, or waits for this
    /// batch, no dependency is added.
    /// - Returns: the added dependencies, excluding batches that have already finished.
    /// - Throws: ``DarkroomError``, for example with the code `batchStarted`, `circularDependency` or `busy`.
    @discardableResult
    public func addDependency(_ id: BatchID, on others: [BatchID]) async throws -> [BatchID] {
        try await blocking("make batch \(id) wait") { [control] in try control.depend(id, on: others).added }
    }

    /// Removes dependencies of a batch.
    /// - Returns: false if the batch did not wait for any of these batches.
    @discardableResult
    public func removeDependency(_ id: BatchID, on others: [BatchID]) async throws -> Bool {
        try await blocking("make batch \(id) wait no more") { [control] in try control.removeDependency(id, on: others)
        }
    }

    /// Makes all workers run these photos first, for example the photos in the visible rows of a table. Replaces an
    /// earlier focus of the batch.
    ///
    /// ```swift
    /// try await client.focus(batch.id, 40...60, only: true)
    /// ```
    /// - Parameters:
    ///   - id: the batch.
    ///   - photos: indexes from 0. They may include photos that are not fed yet.
    ///   - only: whether operations without any of these photos wait until ``clearFocus(_:)`` is called. The other
    ///     photos of operations with some of these photos run afterwards.
    /// - Throws: ``DarkroomError``, for example with the code `photosOutsideList`.
    public func focus(_ id: BatchID, _ photos: ClosedRange<Int>, only: Bool = false) async throws {
        try await blocking("focus batch \(id)") { [control] in _ = try control.focus(id, photos, only: only) }
    }

    /// Removes the focus, so that the photos of the batch run in the order of the list again.
    /// - Returns: false if the batch had no focus.
    @discardableResult
    public func clearFocus(_ id: BatchID) async throws -> Bool {
        try await blocking("clear the focus of batch \(id)") { [control] in try control.clearFocus(id) }
    }

    /// Runs the failed photos of a batch again. A finished batch starts a new round. While a batch is executing,
    /// failed photos of operations that have not ended are skipped.
    /// - Parameters:
    ///   - id: the batch.
    ///   - reasons: the failure reasons of the photos to retry; if empty, all failed photos are retried.
    ///   - overwrite: whether the batch takes its output folder back if another batch has taken the folder.
    /// - Throws: ``DarkroomError``, for example with the code `outputTaken` or `busy`.
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
    /// - Throws: ``DarkroomError`` with the code `invalidOptions` if a number is out of bounds.
    public func setLimits(downloads: Int? = nil, filtrations: Int? = nil) async throws {
        try await blocking("limit the workers") { [control] in
            try control.setLimits(downloads: downloads, filtrations: filtrations)
        }
    }

    /// Removes the limits, so that each worker uses the limits with which it was started.
    public func clearLimits() async throws {
        try await blocking("clear the limits") { [control] in try control.clearLimits() }
    }

    /// Removes a batch from Redis. The files of its photos remain. Does nothing if the batch is not in Redis.
    /// - Parameters:
    ///   - id: the batch.
    ///   - unfinished: whether the batch is removed even if it has not finished. Workers then discard their work on the
    ///     batch.
    /// - Throws: ``DarkroomError``, for example with the code `batchUnfinished`.
    public func forget(_ id: BatchID, unfinished: Bool = false) async throws {
        let state = try await blocking("forget batch \(id)") { [control] in
            try control.forget(id, unfinished: unfinished)
        }
        guard state != nil else { return }
        throw DarkroomError(
            .batchUnfinished, "forget batch \(id)",
            "batch \(id) has not finished: wait until it has finished, or forget it although it has not")
    }
}
