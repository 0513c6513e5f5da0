/// A change of a batch, of its operations or photos, or of the cluster.
///
/// Redis keeps no events: a program that is not connected misses them. ``DarkroomClient/follow(_:)`` and
/// ``DarkroomClient/events()`` report when events may be missing.
public struct BatchEvent: Sendable, Equatable {
    /// What changed, and to what.
    public let kind: Kind
    /// The batch; nil if the cluster as a whole has changed.
    public let batch: BatchID?
    /// The time of the change in ms since 1970 of the Redis clock.
    package let time: Int

    /// What changed, and to what. More kinds may be added, so a `switch` over them needs a default.
    public enum Kind: Sendable, Equatable {
        /// The batch was submitted; it has no photos yet.
        case submitted
        /// Whether the batch may run: false if it waits for another batch.
        case isReady(Bool)
        /// True: the first operation of a round was claimed.
        case isExecuting(Bool)
        /// True: the batch has finished. False: a retry has begun a new round.
        case isFinished(Bool)
        /// True: the batch was cancelled.
        case isCancelled(Bool)
        /// Whether this part of the batch, or of the cluster, is suspended.
        case isSuspended(QueuePart, Bool)
        /// The number of batches that the batch waits for now.
        case dependencies(Int)
        /// The new priority.
        case priority(BatchPriority)
        /// The new focus; nil if it was cleared.
        case focus(BatchControls.Focus?)
        /// The new limits of each worker; nil means no limit.
        case limits(downloads: Int?, filtrations: Int?)
        /// The batch was removed from Redis.
        case forgotten
        /// The batch has finished; the last event of its round.
        case completion(Completion)
        /// A worker has claimed operations.
        case claimed(operations: [Int], worker: String)
        /// A worker has released an operation, which is queued again.
        case released(operation: Int)
        /// The lease of an operation has expired, and the operation is queued again. `leaseExpiries` counts its expired leases.
        case recovered(operation: Int, leaseExpiries: Int)
        /// Every photo of an operation is final.
        case ended(operation: Int)
        /// The new states of photos by index. `dropped` earlier changes are not reported.
        case photos([Int: PhotoState], worker: String, dropped: Int = 0)
        /// An event with this name that a newer version has added.
        case other(String)
    }

    /// The photos of a batch that has finished.
    public struct Completion: Sendable, Equatable {
        /// 1, and one more with each retry after the batch had finished.
        public let round: Int
        /// True: the batch was cancelled.
        public let isCancelled: Bool
        /// The number of all photos.
        public let photos: Int
        /// Photos that were filtered.
        public let filtered: Int
        /// Photos that failed.
        public let failed: Int
        /// Photos that were cancelled.
        public let cancelled: Int

        package init(round: Int, isCancelled: Bool, photos: Int, filtered: Int, failed: Int, cancelled: Int) {
            self.round = round
            self.isCancelled = isCancelled
            self.photos = photos
            self.filtered = filtered
            self.failed = failed
            self.cancelled = cancelled
        }
    }

    package init(_ kind: Kind, batch: BatchID? = nil, time: Int) {
        self.kind = kind
        self.batch = batch
        self.time = time
    }
}
