import DarkroomConcurrency
import DarkroomCoordinator
import DarkroomLists
import DarkroomStore
import Foundation

/// Feeds a photo list on a new thread.
///
/// A feed ends when the whole list is fed and durable, when an error occurs, or when its batch is cancelled. If the
/// batch is cancelled, the feed returns no error, but facts in which ``BatchFacts/cancelled`` is true.
package final class BatchFeed: Sendable {
    private struct State {
        var batch: BatchID?
        var outcome: Result<BatchFacts, any Error>?
    }

    private let state = Locked(State())
    private let begun = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    /// Starts feeding. Call ``Coordinator/stop()`` to end the feed early.
    /// - Parameters:
    ///   - onEnd: called on the feeding thread with the result.
    ///   - feed: submits or resumes the batch; must call its second argument with the id of the batch.
    package init(
        _ coordinator: Coordinator, onEnd: @escaping @Sendable (Result<BatchFacts, any Error>) -> Void = { _ in },
        feed: @escaping @Sendable (Coordinator, _ onBegun: (BatchID) -> Void) throws -> BatchFacts
    ) {
        _ = OwnedThread("darkroom-feed") { [self] in
            let outcome = Result {
                do {
                    return try feed(coordinator) { id in
                        state.withLock { $0.batch = id }
                        begun.signal()
                    }
                } catch let cancelled as BatchCancelled {
                    return cancelled.batch
                }
            }
            state.withLock { $0.outcome = outcome }
            begun.signal()
            ended.signal()
            onEnd(outcome)
        }
    }

    package var batch: BatchID? { state.withLock { $0.batch } }

    /// Whether the feed has ended, successfully or with an error.
    package var hasEnded: Bool { state.withLock { $0.outcome != nil } }

    /// Blocks until the id of the batch is known.
    package func waitUntilBegun() throws -> BatchID {
        begun.wait()
        begun.signal()
        guard let batch else { return try waitUntilEnded().id }
        return batch
    }

    /// Blocks until the feed has ended.
    package func waitUntilEnded() throws -> BatchFacts {
        while true {
            if let facts = try waitUntilEnded(for: .seconds(3600)) { return facts }
        }
    }

    /// Blocks until the feed has ended, at most for `duration`; returns nil if it has not ended by then.
    package func waitUntilEnded(for duration: Duration) throws -> BatchFacts? {
        guard ended.wait(timeout: .now() + duration / .seconds(1)) == .success else { return nil }
        ended.signal()
        return try state.withLock { $0.outcome }?.get()
    }
}

extension DarkroomClient {
    /// Creates a coordinator, which can run several feeds one after another.
    /// - Parameters:
    ///   - replicas: the number of replicas that must confirm a batch; nil for one replica, or none if Redis has none.
    ///   - onNotice: called on the feeding thread.
    package func coordinator(
        replicas: Int? = nil, onNotice: @escaping @Sendable (FeedNotice) -> Void
    ) -> Coordinator {
        Coordinator(store: store, replicas: replicas, onNotice: onNotice)
    }
}

extension DarkroomClient {
    /// Starts feeding a new batch.
    /// - Parameters:
    ///   - submission: A checked form, see also ``Submission/resolved(in:)``.
    ///   - photos: The open list of the form.
    ///   - id: The id of the batch; nil for a new id.
    ///   - limit: The time for which Redis may refuse a new batch, see
    ///     ``Coordinator/submit(_:as:options:after:overwrite:within:onSubmitted:beforeTrying:)``.
    ///   - beforeTrying: Called by the feeding thread before each attempt to submit a new batch.
    ///   - onEnd: Called by the feeding thread with the result.
    ///   - onBegun: Called by the feeding thread with the id of the batch, before `waitUntilBegun` returns.
    package func feed(
        _ submission: Submission, _ photos: SelectedPhotos, _ coordinator: Coordinator, as id: BatchID? = nil,
        within limit: Duration? = nil, beforeTrying: @escaping @Sendable () throws -> Void = {},
        onEnd: @escaping @Sendable (Result<BatchFacts, any Error>) -> Void = { _ in },
        onBegun: @escaping @Sendable (BatchID) -> Void
    ) throws -> BatchFeed {
        // From here on only the feeding thread uses the list.
        nonisolated(unsafe) let photos = photos
        let options = try submission.options(for: photos.list)
        let (before, overwrite) = (submission.after, submission.overwrite)
        return BatchFeed(coordinator, onEnd: onEnd) { coordinator, onSubmitted in
            try coordinator.submit(
                photos, as: id, options: options, after: before, overwrite: overwrite, within: limit,
                onSubmitted: { id in
                    onBegun(id)
                    onSubmitted(id)
                }, beforeTrying: beforeTrying)
        }
    }

    /// Starts feeding the rest of a batch, see ``feed(_:_:_:as:within:beforeTrying:onEnd:onBegun:)``.
    package func feedRest(
        of batch: BatchID, _ photos: SelectedPhotos, _ coordinator: Coordinator,
        onEnd: @escaping @Sendable (Result<BatchFacts, any Error>) -> Void = { _ in },
        onBegun: @escaping @Sendable (BatchID) -> Void
    ) -> BatchFeed {
        nonisolated(unsafe) let photos = photos
        return BatchFeed(coordinator, onEnd: onEnd) { coordinator, onResumed in
            try coordinator.resume(batch, photos) { id in
                onBegun(id)
                onResumed(id)
            }
        }
    }
}
