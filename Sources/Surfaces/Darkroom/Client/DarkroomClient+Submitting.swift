import DarkroomCoordinator
import DarkroomLists

/// Calls that submit photo lists.
extension DarkroomClient {
    /// Submits a photo list, and returns when the whole list has been fed. If the list is larger than the window of the
    /// batch, feeding takes almost as long as developing the photos. Workers develop the fed photos even if this
    /// program ends.
    ///
    /// If the batch is cancelled during the call, feeding ends, and ``BatchFacts/cancelled`` is true in the returned
    /// facts. If the task is cancelled, feeding stops at the next photo, and the call throws `CancellationError`.
    /// Photos that are already fed remain, and ``resume(_:contentsOf:replicas:onNotice:)`` feeds the rest. If Redis is
    /// unreachable, the call retries for 5 minutes.
    /// - Parameters:
    ///   - location: the path of a file, the path of a folder, an `http:` or `https:` URL, or `-` for standard input.
    ///   - options: the options of the batch. `output` and `originals` must be absolute paths. `fileName` is ignored.
    ///   - fileName: the template of file names with `{index}`, `{name}` or `{stem}`; nil means `{stem}` or
    ///     `{name}` for a property list whose names are distinct, and `{index}-{name}` for every other list.
    ///   - before: batches that must finish before this batch starts. The list is fed while the batch waits.
    ///   - overwrite: whether the batch takes the output folder even if another batch has taken it.
    ///   - replicas: the number of replicas of Redis that must confirm the batch; nil means one if Redis has replicas.
    ///     The call waits at most 10 seconds for the replicas.
    ///   - onSubmitted: called with the batch's id before its first photo is fed, on a thread of the client.
    ///   - onNotice: called with notices for the user, on a thread of the client.
    /// - Throws: ``DarkroomError`` with the code `listUnreadable`, `listEmpty`, `invalidOptions`, `nameTaken`,
    ///   `outputTaken`, `outputUnusable`, `noSuchBatch` (for a batch in `before`), `redisUnreachable`, `redisRefused`
    ///   or `notDurable`.
    @discardableResult
    public func submit(
        contentsOf location: String, options: BatchOptions, fileName: String? = nil, after before: [BatchID] = [],
        overwrite: Bool = false, replicas: Int? = nil, onSubmitted: @escaping @Sendable (BatchID) -> Void = { _ in },
        onNotice: @escaping @Sendable (SubmissionNotice) -> Void = { _ in }
    ) async throws -> BatchFacts {
        let checked = try options.checked()
        return try await feeding("submit \(PhotoListReader.displayName(location))", replicas, onNotice) { coordinator in
            let list = try PhotoListReader(location)
            var options = checked
            options.fileName = try list.fileNameTemplate(fileName).description
            options.photosFolder = list.photosFolder
            return try coordinator.submit(
                list, options: options, after: before, overwrite: overwrite, onSubmitted: onSubmitted)
        }
    }

    /// Submits photos from a collection; see
    /// ``submit(contentsOf:options:fileName:after:overwrite:replicas:onSubmitted:onNotice:)``.
    ///
    /// ```swift
    /// let photos = [("Cabin", "https://example.com/cabin.jpg"), ("Lake", "https://example.com/lake.jpg")]
    /// let batch = try await client.submit(photos, options: options)
    /// ```
    /// - Parameters:
    ///   - photos: names and URLs. If `options.fileName` has no `{index}`, the names must be unique even if case is
    ///     ignored; the call iterates over the photos before the feed to check this. The feed iterates over them once,
    ///     and again if Redis loses confirmed operations.
    ///   - options: the options of the batch.
    ///   - before: batches that must finish before this batch starts.
    ///   - overwrite: whether the batch takes the output folder even if another batch has taken it.
    ///   - replicas: the number of replicas of Redis that must confirm the batch; nil means one if Redis has replicas.
    ///   - onSubmitted: called with the batch's id before its first photo is fed.
    ///   - onNotice: called with notices for the user.
    @discardableResult
    public func submit(
        _ photos: some Collection<(name: String, url: String)> & Sendable, options: BatchOptions,
        after before: [BatchID] = [], overwrite: Bool = false, replicas: Int? = nil,
        onSubmitted: @escaping @Sendable (BatchID) -> Void = { _ in },
        onNotice: @escaping @Sendable (SubmissionNotice) -> Void = { _ in }
    ) async throws -> BatchFacts {
        let options = try options.checked()
        return try await feeding("submit photos", replicas, onNotice) { coordinator in
            try options.checkFileNames(of: photos)
            return try coordinator.submit(
                PhotoRecords(photos), options: options, after: before, overwrite: overwrite, onSubmitted: onSubmitted)
        }
    }

    /// Feeds the rest of a batch after its feed was interrupted, or after photos were appended to its list.
    /// - Parameters:
    ///   - id: the batch.
    ///   - location: the same list as before, see
    ///     ``submit(contentsOf:options:fileName:after:overwrite:replicas:onSubmitted:onNotice:)``.
    ///   - replicas: the number of replicas of Redis that must confirm the batch; nil means one if Redis has replicas.
    ///   - onNotice: called with notices for the user.
    /// - Throws: ``DarkroomError`` with the code `listDiffers`, `noSuchBatch`, `batchCancelled`, or a code of `submit`.
    @discardableResult
    public func resume(
        _ id: BatchID, contentsOf location: String, replicas: Int? = nil,
        onNotice: @escaping @Sendable (SubmissionNotice) -> Void = { _ in }
    ) async throws -> BatchFacts {
        try await feeding("resume batch \(id)", replicas, onNotice) { coordinator in
            try coordinator.resume(id, PhotoListReader(location))
        }
    }

    /// Feeds the rest of a batch from the same photos as before; see ``resume(_:contentsOf:replicas:onNotice:)``.
    @discardableResult
    public func resume(
        _ id: BatchID, with photos: some Collection<(name: String, url: String)> & Sendable, replicas: Int? = nil,
        onNotice: @escaping @Sendable (SubmissionNotice) -> Void = { _ in }
    ) async throws -> BatchFacts {
        try await feeding("resume batch \(id)", replicas, onNotice) { coordinator in
            try coordinator.resume(id, PhotoRecords(photos))
        }
    }

    /// Feeds on a new thread. If the task is cancelled, feeding stops, and the task waits until the thread has ended.
    private func feeding(
        _ attempted: String, _ replicas: Int?, _ onNotice: @escaping @Sendable (SubmissionNotice) -> Void,
        _ feed: @escaping @Sendable (Coordinator) throws -> BatchFacts
    ) async throws -> BatchFacts {
        let coordinator = coordinator(replicas: replicas) { onNotice(SubmissionNotice($0)) }
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    _ = BatchFeed(coordinator, onEnd: { continuation.resume(with: $0) }) { coordinator, _ in
                        try feed(coordinator)
                    }
                }
            } onCancel: {
                coordinator.stop()
            }
        } catch let error as CoordinatorError where error.code == .stopped {
            throw CancellationError()
        } catch {
            throw DarkroomError(error, attempted)
        }
    }
}
