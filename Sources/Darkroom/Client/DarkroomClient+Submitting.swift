import DarkroomCoordinator
import DarkroomImaging

/// Submitting photo lists.
extension DarkroomClient {
    /// Submits a photo list and returns when all of it is fed. For a list that is larger than the window of its options that is
    /// near the end of the work. Fed photos are developed without this program.
    ///
    /// If the batch is cancelled meanwhile, feeding ends, and the facts say so. A cancelled task stops feeding at the next photo
    /// and gets `CancellationError`; fed photos stay, and ``resume(_:contentsOf:replicas:onNotice:)`` feeds the rest. While Redis
    /// is away, feeding tries again for 5 minutes.
    /// - Parameters:
    ///   - location: a path of a file or of a folder of photos, an `http:` or `https:` URL, or `-` for standard input.
    ///   - options: what is asked of the batch. `output` and `originals` are absolute paths; `fileName` is replaced.
    ///   - fileName: the template of file names with `{index}`, `{name}` or `{stem}`; nil takes `{name}` if the list's format
    ///     makes names unique, and `{index}-{name}` otherwise.
    ///   - before: batches that must have finished before this one begins. It is fed meanwhile.
    ///   - overwrite: takes the output folder although another batch has it.
    ///   - replicas: how many replicas of Redis must have the batch before this returns, which waits 10 seconds at most; nil is one
    ///     if there are any.
    ///   - onSubmitted: called with the batch's id before its first photo is fed, on a thread of the client.
    ///   - onNotice: called with what a program may want to show meanwhile, on a thread of the client.
    /// - Throws: ``DarkroomError`` with the code `listUnreadable`, `listEmpty`, `invalidOptions`, `nameTaken`, `outputTaken`,
    ///   `outputUnusable`, `noSuchBatch` (of `before`), `redisUnreachable`, `redisRefused` or `notDurable`.
    @discardableResult
    public func submit(
        contentsOf location: String, options: BatchOptions, fileName: String? = nil, after before: [BatchID] = [],
        overwrite: Bool = false, replicas: Int? = nil, onSubmitted: @escaping @Sendable (BatchID) -> Void = { _ in },
        onNotice: @escaping @Sendable (SubmissionNotice) -> Void = { _ in }
    ) async throws -> BatchFacts {
        let checked = try checked(options)
        return try await feeding("submit \(PhotoListReader.displayName(location))", replicas, onNotice) { coordinator in
            let list = try PhotoListReader(location)
            var options = checked
            options.fileName = try list.fileNameTemplate(fileName).description
            options.photosFolder = list.photosFolder
            return try coordinator.submit(
                list, options: options, after: before, overwrite: overwrite, onSubmitted: onSubmitted)
        }
    }

    /// Submits photos that the program has itself, see
    /// ``submit(contentsOf:options:fileName:after:overwrite:replicas:onSubmitted:onNotice:)``.
    ///
    /// ```swift
    /// let photos = [("Cabin", "https://example.com/cabin.jpg"), ("Lake", "https://example.com/lake.jpg")]
    /// let batch = try await client.submit(photos, options: options)
    /// ```
    /// - Parameters:
    ///   - photos: names and URLs. Names need not be unique unless `options.fileName` lacks `{index}`. The collection is gone
    ///     through once, and again if Redis loses operations that it had confirmed.
    ///   - options: what is asked of the batch.
    ///   - before: batches that must have finished before this one begins.
    ///   - overwrite: takes the output folder although another batch has it.
    ///   - replicas: how many replicas of Redis must have the batch; nil is one if there are any.
    ///   - onSubmitted: called with the batch's id before its first photo is fed.
    ///   - onNotice: called with what a program may want to show meanwhile.
    @discardableResult
    public func submit(
        _ photos: some Collection<(name: String, url: String)> & Sendable, options: BatchOptions,
        after before: [BatchID] = [], overwrite: Bool = false, replicas: Int? = nil,
        onSubmitted: @escaping @Sendable (BatchID) -> Void = { _ in },
        onNotice: @escaping @Sendable (SubmissionNotice) -> Void = { _ in }
    ) async throws -> BatchFacts {
        let options = try checked(options)
        return try await feeding("submit photos", replicas, onNotice) { coordinator in
            try coordinator.submit(
                PhotoRecords(photos), options: options, after: before, overwrite: overwrite, onSubmitted: onSubmitted)
        }
    }

    /// Feeds the rest of a batch whose feed was interrupted, or whose list has grown behind its end.
    /// - Parameters:
    ///   - id: the batch.
    ///   - location: the same list as before, see
    ///     ``submit(contentsOf:options:fileName:after:overwrite:replicas:onSubmitted:onNotice:)``.
    ///   - replicas: how many replicas of Redis must have the batch; nil is one if there are any.
    ///   - onNotice: called with what a program may want to show meanwhile.
    /// - Throws: ``DarkroomError`` with the code `listDiffers`, `noSuchBatch`, `batchCancelled`, or one of those of `submit`.
    @discardableResult
    public func resume(
        _ id: BatchID, contentsOf location: String, replicas: Int? = nil,
        onNotice: @escaping @Sendable (SubmissionNotice) -> Void = { _ in }
    ) async throws -> BatchFacts {
        try await feeding("resume batch \(id)", replicas, onNotice) { coordinator in
            try coordinator.resume(id, PhotoListReader(location))
        }
    }

    /// Feeds the rest of a batch from the same photos as before, see ``resume(_:contentsOf:replicas:onNotice:)``.
    @discardableResult
    public func resume(
        _ id: BatchID, with photos: some Collection<(name: String, url: String)> & Sendable, replicas: Int? = nil,
        onNotice: @escaping @Sendable (SubmissionNotice) -> Void = { _ in }
    ) async throws -> BatchFacts {
        try await feeding("resume batch \(id)", replicas, onNotice) { coordinator in
            try coordinator.resume(id, PhotoRecords(photos))
        }
    }

    /// Feeds on a thread of its own. A cancelled task stops feeding and waits for the end of the thread.
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

    /// The options with the text of their filters as the command line writes it.
    private func checked(_ options: BatchOptions) throws -> BatchOptions {
        var options = options
        do {
            guard try CustomFilter.name(in: options.filters.map(\.description)) == nil else { return options }
            options.filters = try options.filters.map { filter in
                PhotoFilter(stored: try Filter(parsing: filter.description).description)
            }
        } catch {
            throw DarkroomError(.invalidOptions, "submit a batch", "\(error)", cause: error)
        }
        return options
    }
}
