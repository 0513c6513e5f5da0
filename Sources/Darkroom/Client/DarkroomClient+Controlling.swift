/// Controlling batches and the cluster: what an operation queue of one device offers for its operations, over all workers.
///
/// Each call returns when Redis has the change. After it has returned no worker starts work that violates the new setting;
/// workers learn of it within milliseconds, or with their next heartbeat if the message is lost. Repeating a call does no harm.
///
/// Calls for a batch throw ``DarkroomError`` with the code `noSuchBatch` if it is not in Redis, and `batchFinished` or
/// `batchCancelled` if nothing of it is left to change.
extension DarkroomClient {
    /// Cancels a batch. Photos that have not begun never will, running ones are stopped, final ones stay as they are.
    /// - Parameters:
    ///   - id: the batch.
    ///   - reason: why, for everybody who looks at the batch; may be empty.
    /// - Returns: false if the batch had finished before without being cancelled.
    @discardableResult
    public func cancel(_ id: BatchID, reason: String = "") async throws -> Bool {
        try await blocking("cancel batch \(id)") { [control] in
            if case .cancelled = try control.cancel(id, reason: reason) { true } else { false }
        }
    }

    /// Cancels some photos of a batch; the others go on.
    ///
    /// ```swift
    /// try await client.cancel([10...20, 31...31], of: batch.id)
    /// ```
    /// - Parameters:
    ///   - photos: indexes from 0. All must be fed, otherwise none is cancelled.
    ///   - id: the batch.
    /// - Returns: how many were cancelled; the others were final before.
    /// - Throws: ``DarkroomError``, also with the code `photosNotFed` or `photosOutsideList`.
    @discardableResult
    public func cancel(_ photos: PhotoRanges, of id: BatchID) async throws -> Int {
        try await blocking("cancel photos \(photos) of batch \(id)") { [control] in
            try control.cancel(photos, of: id).cancelled
        }
    }

    /// Cancels every batch that has not finished.
    /// - Returns: how many were cancelled.
    @discardableResult
    public func cancelAll() async throws -> Int {
        try await blocking("cancel all batches") { [control] in try control.cancelAll() }
    }

    /// Suspends a batch: no download and no filtration of it begins. Running ones go on to their end.
    /// - Parameters:
    ///   - id: the batch.
    ///   - part: downloads, filtrations or both; the three settings are independent of each other.
    /// - Returns: false if it was suspended so before.
    @discardableResult
    public func suspend(_ id: BatchID, _ part: QueuePart = .everything) async throws -> Bool {
        try await blocking("suspend batch \(id)") { [control] in try control.suspend(id, part) }
    }

    /// Suspends all workers, see ``suspend(_:_:)``.
    /// - Returns: false if they were suspended so before.
    @discardableResult
    public func suspendAll(_ part: QueuePart = .everything) async throws -> Bool {
        try await blocking("suspend the cluster") { [control] in try control.suspend(nil, part) }
    }

    /// Lets a suspended batch go on.
    /// - Parameters:
    ///   - id: the batch.
    ///   - part: `everything` lifts also a suspension of downloads or of filtrations alone.
    /// - Returns: false if nothing of it was suspended.
    @discardableResult
    public func resume(_ id: BatchID, _ part: QueuePart = .everything) async throws -> Bool {
        try await blocking("resume batch \(id)") { [control] in try control.resume(id, part) }
    }

    /// Lets all workers go on. A batch that was suspended by itself stays suspended.
    /// - Returns: false if the workers were not suspended.
    @discardableResult
    public func resumeAll(_ part: QueuePart = .everything) async throws -> Bool {
        try await blocking("resume the cluster") { [control] in try control.resume(nil, part) }
    }

    /// Changes the priority of a batch, for everything that is claimed from now on.
    /// - Returns: false if the batch had the priority before.
    @discardableResult
    public func prioritize(_ id: BatchID, _ priority: BatchPriority) async throws -> Bool {
        try await blocking("prioritize batch \(id)") { [control] in try control.prioritize(id, priority) }
    }

    /// Makes a batch wait until others have finished. If one of them is gone, or waits for this batch itself, nothing is added.
    /// - Returns: the batches for which it did not wait before, without those that have finished.
    /// - Throws: ``DarkroomError``, also with the code `batchStarted`, `circularDependency` or `busy`.
    @discardableResult
    public func addDependency(_ id: BatchID, on others: [BatchID]) async throws -> [BatchID] {
        try await blocking("make batch \(id) wait") { [control] in try control.depend(id, on: others).added }
    }

    /// Makes a batch wait for these batches no more.
    /// - Returns: false if it waited for none of them.
    @discardableResult
    public func removeDependency(_ id: BatchID, on others: [BatchID]) async throws -> Bool {
        try await blocking("make batch \(id) wait no more") { [control] in try control.removeDependency(id, on: others)
        }
    }

    /// Makes these photos the next that run anywhere, for example the visible rows of a table. The newest focus of a batch
    /// replaces the one before.
    ///
    /// ```swift
    /// try await client.focus(batch.id, 40...60, only: true)
    /// ```
    /// - Parameters:
    ///   - id: the batch.
    ///   - photos: indexes from 0. Photos that are not fed yet come first as soon as they are.
    ///   - only: stops the other photos of the batch until ``clearFocus(_:)``.
    /// - Throws: ``DarkroomError``, also with the code `photosOutsideList`.
    public func focus(_ id: BatchID, _ photos: ClosedRange<Int>, only: Bool = false) async throws {
        try await blocking("focus batch \(id)") { [control] in _ = try control.focus(id, photos, only: only) }
    }

    /// Lets all photos of a batch run in the order of the list again.
    /// - Returns: false if the batch had no focus.
    @discardableResult
    public func clearFocus(_ id: BatchID) async throws -> Bool {
        try await blocking("clear the focus of batch \(id)") { [control] in try control.clearFocus(id) }
    }

    /// Runs failed photos of a batch again, and only those. A batch that has finished begins a new round. While it executes,
    /// failed photos of operations that have not ended are left out.
    /// - Parameters:
    ///   - id: the batch.
    ///   - reasons: only photos that failed for one of these reasons; empty is all.
    ///   - overwrite: takes the output folder back if another batch has taken it since.
    /// - Throws: ``DarkroomError``, also with the code `outputTaken` or `busy`.
    @discardableResult
    public func retry(
        _ id: BatchID, reasons: [FailureReason] = [], overwrite: Bool = false
    ) async throws -> RetriedPhotos {
        try await blocking("retry batch \(id)") { [control] in
            try control.retry(id, reasons: reasons, overwrite: overwrite)
        }
    }

    /// Limits how much each worker does at once; nil leaves a limit as it is.
    /// - Parameters:
    ///   - downloads: 1 to 1024 in each worker.
    ///   - filtrations: 1 to 256 in each worker.
    /// - Throws: ``DarkroomError`` with the code `invalidOptions` for another number.
    public func setLimits(downloads: Int? = nil, filtrations: Int? = nil) async throws {
        try await blocking("limit the workers") { [control] in
            try control.setLimits(downloads: downloads, filtrations: filtrations)
        }
    }

    /// Removes the limits: each worker does as much at once as it was started for.
    public func clearLimits() async throws {
        try await blocking("clear the limits") { [control] in try control.clearLimits() }
    }

    /// Removes a batch from Redis; its photos stay. A batch that is not in Redis is no error.
    /// - Parameters:
    ///   - id: the batch.
    ///   - unfinished: removes it also if it has not finished; its workers drop their work for it.
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
