import DarkroomConcurrency

/// Submitting photo lists.
extension DarkroomClient {
    /// Submits the photo list at `location`: a file, `http(s)://`, `-` for standard input, or a folder of photos.
    ///
    /// Returns when all of it is fed, which for a list that is larger than the window of the options is near the end of the
    /// work. What is fed is developed without this program.
    /// - Parameters:
    ///   - location: where the list is.
    ///   - options: what is asked of the batch; `output` is an absolute path. `fileName` is replaced, see below.
    ///   - fileName: how files are called; nil takes what suits the list: `{name}` where names are unique by the list's
    ///     format and differ not only in case, `{index}-{name}` otherwise.
    ///   - before: batches that must be over before it begins; it is fed meanwhile.
    ///   - overwrite: take the output folder also when another batch has it.
    ///   - replicas: how many replicas of Redis are waited for, for 10 s, before it counts as submitted; nil is one where there
    ///     are any. When fewer have it by then, that is told as a notice.
    ///   - onSubmitted: is told the batch's id before its first photo is fed.
    ///   - onNotice: is told what users may want to know meanwhile.
    /// - Throws: `PhotoListError`, `CoordinatorError`, `FileNameTemplate.Problem`. A task that is cancelled stops
    ///   feeding at the next photo, with `CancellationError`; what is fed stays, and ``resume(_:with:replicas:onNotice:)`` goes on.
    @discardableResult
    public func submit(
        contentsOf location: String, options: BatchOptions, fileName: String? = nil, after before: [BatchID] = [],
        overwrite: Bool = false, replicas: Int? = nil, onSubmitted: @escaping @Sendable (BatchID) -> Void = { _ in },
        onNotice: @escaping @Sendable (FeedNotice) -> Void = { _ in }
    ) async throws -> BatchFacts {
        try await feeding(replicas, onNotice) { coordinator in
            let list = try PhotoListReader(location)
            var options = options
            options.fileName = try list.fileNameTemplate(fileName).description
            options.photosFolder = list.photosFolder
            return try coordinator.submit(
                list, options: options, after: before, overwrite: overwrite, onSubmitted: onSubmitted)
        }
    }

    /// Submits records: names, which need not be unique where the file name has `{index}`, and URLs.
    ///
    /// ```swift
    /// let photos = [("Cabin", "https://example.com/cabin.jpg"), ("Lake", "https://example.com/lake.jpg")]
    /// let batch = try await client.submit(photos, options: options)
    /// ```
    /// - Parameter before: The batches that it waits for.
    /// - Parameter onNotice: Is told what its user may want to know meanwhile.
    /// - Parameter onSubmitted: Is told the batch's id as soon as it is submitted.
    /// - Parameter options: What is asked of the batch.
    /// - Parameter overwrite: Take the output folder also when another batch has it.
    /// - Parameter replicas: How many replicas of Redis are waited for; nil is one where there are any.
    /// - Parameter records: gone through once, and again should Redis lose what it had confirmed.
    @discardableResult
    public func submit(
        _ records: sending some Collection<(name: String, url: String)> & SendableMetatype, options: BatchOptions,
        after before: [BatchID] = [], overwrite: Bool = false, replicas: Int? = nil,
        onSubmitted: @escaping @Sendable (BatchID) -> Void = { _ in },
        onNotice: @escaping @Sendable (FeedNotice) -> Void = { _ in }
    ) async throws -> BatchFacts {
        try await submit(
            PhotoRecords(records), options: options, after: before, overwrite: overwrite, replicas: replicas,
            onSubmitted: onSubmitted, onNotice: onNotice)
    }

    /// Submits a list of any kind: one that a `PhotoListReader` reads, or a source of your own.
    ///
    /// The list is read on a thread of its own. See ``submit(contentsOf:options:fileName:after:overwrite:replicas:onSubmitted:onNotice:)``.
    @discardableResult
    public func submit(
        _ list: sending some PhotoListSource & SendableMetatype, options: BatchOptions, after before: [BatchID] = [],
        overwrite: Bool = false, replicas: Int? = nil, onSubmitted: @escaping @Sendable (BatchID) -> Void = { _ in },
        onNotice: @escaping @Sendable (FeedNotice) -> Void = { _ in }
    ) async throws -> BatchFacts {
        nonisolated(unsafe) let list = list  // sent here, and from here to the thread that feeds
        return try await feeding(replicas, onNotice) { coordinator in
            try coordinator.submit(
                list, options: options, after: before, overwrite: overwrite, onSubmitted: onSubmitted)
        }
    }

    /// Goes on feeding a batch whose feed was interrupted, with the same list; one that differs is an error.
    @discardableResult
    public func resume(
        _ id: BatchID, with list: sending some PhotoListSource & SendableMetatype, replicas: Int? = nil,
        onNotice: @escaping @Sendable (FeedNotice) -> Void = { _ in }
    ) async throws -> BatchFacts {
        nonisolated(unsafe) let list = list  // sent here, and from here to the thread that feeds
        return try await feeding(replicas, onNotice) { coordinator in try coordinator.resume(id, list) }
    }

    /// Feeds on a thread of its own; when the task is cancelled, stops feeding and waits for the end of the thread.
    private func feeding(
        _ replicas: Int?, _ onNotice: @escaping @Sendable (FeedNotice) -> Void,
        _ feed: @escaping @Sendable (Coordinator) throws -> BatchFacts
    ) async throws -> BatchFacts {
        let coordinator = Coordinator(store: store, replicas: replicas, onNotice: onNotice)
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    _ = OwnedThread("darkroom-feed") {
                        continuation.resume(with: Result { try feed(coordinator) })
                    }
                }
            } onCancel: {
                coordinator.stop()
            }
        } catch let error as CoordinatorError where error.code == .stopped {
            throw CancellationError()
        }
    }
}
