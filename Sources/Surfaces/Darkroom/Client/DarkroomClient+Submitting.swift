import DarkroomCoordinator
import DarkroomLists

/// Calls that submit photo lists.
extension DarkroomClient {
    /// Submits a form, and returns when the whole list has been fed. If the list is larger than the window of the batch,
    /// feeding takes almost as long as developing the photos. Workers develop the fed photos even if this program ends.
    ///
    /// If the batch is cancelled during the call, feeding ends, and ``BatchFacts/cancelled`` is true in the returned
    /// facts. If the task is cancelled, feeding stops at the next photo, and the call throws `CancellationError`.
    /// Photos that are already fed remain, and ``resume(_:from:replicas:onNotice:)`` feeds the rest. If Redis is
    /// unreachable, the call retries for 5 minutes.
    /// - Parameters:
    ///   - submission: the list, and what Darkroom does with it.
    ///   - onSubmitted: called with the batch's id before its first photo is fed, on a thread of the client.
    ///   - onNotice: called with notices for the user, on a thread of the client.
    /// - Throws: ``DarkroomError`` with the code `listUnreadable`, `listEmpty`, `invalidOptions`, `nameTaken`,
    ///   `outputTaken`, `outputUnusable`, `noSuchBatch` (for a batch in ``Submission/after``), `redisUnreachable`,
    ///   `redisRefused` or `notDurable`.
    @discardableResult
    public func submit(
        _ submission: Submission, onSubmitted: @escaping @Sendable (BatchID) -> Void = { _ in },
        onNotice: @escaping @Sendable (SubmissionNotice) -> Void = { _ in }
    ) async throws -> BatchFacts {
        try await feeding("submit \(submission.list.name)", submission.replicas, onNotice) { coordinator in
            let checked = try submission.checked()
            return try checked.list.withPhotos(except: checked.options.output) { photos, selected in
                try coordinator.submit(
                    photos, options: checked.options(for: selected?.list), after: checked.after,
                    overwrite: checked.overwrite,
                    onSubmitted: onSubmitted)
            }
        }
    }

    /// Examines what ``submit(_:onSubmitted:onNotice:)`` would do. Reads the whole list, the folders on this machine and
    /// Redis, and stores nothing.
    /// - Throws: the errors of ``submit(_:onSubmitted:onNotice:)`` that can be found without storing anything.
    public func examine(_ submission: Submission) async throws -> SubmissionExamination {
        try await blocking("examine \(submission.list.name)") { [self] in
            let checked = try submission.checked()
            return try checked.list.withPhotos(except: checked.options.output) { photos, selected in
                let options = try checked.options(for: selected?.list)
                let check = SubmissionCheck(options, overwrite: checked.overwrite, store: store)
                return try SubmissionExamination(of: photos, selected, options, outputExists: check.run())
            }
        }
    }

    /// Feeds the rest of a batch after its feed was interrupted, or after photos were appended to its list.
    /// - Parameters:
    ///   - id: the batch.
    ///   - list: the same list as before, with the same ``PhotoList/seed`` if the batch is a sample.
    ///   - replicas: the number of replicas of Redis that must confirm the batch; nil means one if Redis has replicas.
    ///   - onNotice: called with notices for the user.
    /// - Throws: ``DarkroomError`` with the code `listDiffers`, `noSuchBatch`, `batchCancelled`, or a code of `submit`.
    @discardableResult
    public func resume(
        _ id: BatchID, from list: PhotoList, replicas: Int? = nil,
        onNotice: @escaping @Sendable (SubmissionNotice) -> Void = { _ in }
    ) async throws -> BatchFacts {
        try await feeding("resume batch \(id)", replicas, onNotice) { coordinator in
            try list.check(continues: true)
            return try list.withPhotos(except: nil) { photos, _ in try coordinator.resume(id, photos) }
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
