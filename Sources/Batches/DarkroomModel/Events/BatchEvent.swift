/// A change of a batch, of its operations or photos, or of the cluster.
///
/// Redis does not store events: a program that is not connected misses them. ``DarkroomClient/follow(_:)`` and
/// ``DarkroomClient/events()`` report when events may be missing.
public struct BatchEvent: Sendable, Equatable {
    /// The kind of change, with the new value.
    public let kind: Kind
    /// The batch; nil for a change of the whole cluster.
    public let batch: BatchID?
    /// The Redis time of the change, in milliseconds since 1970.
    package let time: Int

    /// The kind of change, with the new value. More kinds may be added, so a `switch` over them needs a default.
    public enum Kind: Sendable, Equatable {
        /// The batch was submitted. The batch has no photos yet.
        case submitted
        /// True: the batch may run. False: it waits for another batch.
        case isReady(Bool)
        /// True: the first operation of a round was claimed.
        case isExecuting(Bool)
        /// True: the batch has finished. False: a retry or added photos have begun a new round.
        case isFinished(Bool)
        /// True: the batch was cancelled.
        case isCancelled(Bool)
        /// Whether this part of the work is suspended, in the batch or in the cluster.
        case isSuspended(QueuePart, Bool)
        /// The number of batches for which this batch now waits.
        case dependencies(Int)
        /// The new priority.
        case priority(BatchPriority)
        /// The new focus; nil if it was cleared.
        case focus(BatchControls.Focus?)
        /// The new limits for each worker; nil means no limit.
        case limits(downloads: Int?, filtrations: Int?)
        /// The batch was removed from Redis.
        case forgotten
        /// The batch has finished. This is the last event of the round.
        case completion(Completion)
        /// A worker has claimed operations.
        case claimed(operations: [Int], worker: String)
        /// A worker has released an operation. The operation is queued again.
        case released(operation: Int)
        /// The lease of an operation has expired, and the operation is queued again. `leaseExpiries` is the number of
        /// expired leases of the operation.
        case recovered(operation: Int, leaseExpiries: Int)
        /// All photos of an operation are final.
        case ended(operation: Int)
        /// The new states of photos, by photo index. `worker` is nil if a user has cancelled these photos. `dropped` is
        /// the number of earlier changes that no event reports.
        case photos([Int: PhotoState], worker: String?, dropped: Int = 0)
        /// An event of a newer version, with its name.
        case other(String)
    }

    /// The outcome of a batch that has finished.
    public struct Completion: Sendable, Equatable {
        /// The number of the round, from 1. Each retry of the finished batch starts the next round.
        public let round: Int
        /// True if the batch was cancelled.
        public let isCancelled: Bool
        /// The number of photos in the batch.
        public let photos: Int
        /// The number of filtered photos.
        public let filtered: Int
        /// The number of failed photos.
        public let failed: Int
        /// The number of cancelled photos.
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
