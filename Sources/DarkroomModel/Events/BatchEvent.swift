/// A change of a batch, of its operations or photos, or of the cluster.
///
/// Redis keeps no events: a program that does not listen misses them. ``DarkroomClient/follow(_:)`` and ``DarkroomClient/events()``
/// tell when that may have happened.
public struct BatchEvent: Sendable, Equatable {
    /// What changed, and to what.
    public let kind: Kind
    /// The batch; nil if the cluster as a whole has changed.
    public let batch: BatchID?
    /// When, in ms since 1970 of the Redis clock.
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
        /// For how many batches it waits now.
        case dependencies(Int)
        /// Its priority now.
        case priority(BatchPriority)
        /// Its focus now; nil if it has none.
        case focus(BatchControls.Focus?)
        /// The limits of each worker now; nil is no limit.
        case limits(downloads: Int?, filtrations: Int?)
        /// It was removed from Redis.
        case forgotten
        /// The batch has finished; the last event of its round.
        case completion(Completion)
        /// A worker has claimed operations.
        case claimed(operations: [Int], worker: String)
        /// A worker has released an operation: it is queued again.
        case released(operation: Int)
        /// The lease of an operation has expired, as often as `leaseExpiries` says. The operation is queued again.
        case recovered(operation: Int, leaseExpiries: Int)
        /// Every photo of an operation is final.
        case ended(operation: Int)
        /// The states of photos that have changed, by index. `dropped` changes before these are not reported.
        case photos([Int: PhotoState], worker: String, dropped: Int = 0)
        /// An event of this name that this version does not know.
        case other(String)
    }

    /// The photos of a batch that has finished.
    public struct Completion: Sendable, Equatable {
        /// 1, and one more with each retry after the batch had finished.
        public let round: Int
        /// True: the batch was cancelled.
        public let isCancelled: Bool
        /// All photos.
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
