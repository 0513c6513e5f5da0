/// A message of the events channel: something that can be observed of the cluster, a batch, its operations or its photos
/// has changed. These are the observable properties of an operation queue and of its operations, over all machines.
///
/// A message tells what happened and is never repeated: who was not listening has missed it. So read what you show once
/// you have subscribed, and again after every reconnect.
public struct Event: Sendable, Equatable {
    /// What changed, and to what.
    public let kind: Kind
    /// The batch; nil when it is about the cluster as a whole.
    public let batch: BatchID?
    /// When, in ms since 1970 of the Redis clock.
    public let time: Int

    /// What changed, and to what. More may be added, so give a `switch` over it a default.
    public enum Kind: Sendable, Equatable {
        /// The batch was submitted; it has no photos yet.
        case submitted
        /// Whether it may run: false when it begins to wait for another batch.
        case isReady(Bool)
        /// True when the first operation of a round was claimed.
        case isExecuting(Bool)
        /// True when it ended, false when a retry has opened it again.
        case isFinished(Bool)
        /// True when it was cancelled.
        case isCancelled(Bool)
        /// Whether this part of it is suspended; of the whole cluster when there is no batch.
        case isSuspended(QueuePart, Bool)
        /// How many batches it waits for now.
        case dependencies(Int)
        /// How urgent it is now.
        case priority(Priority)
        /// The photos that run first now; nil when none do.
        case focus(BatchControls.Focus?)
        /// The limits of all workers now; nil leaves it to each.
        case limits(downloads: Int?, filtrations: Int?)
        /// It was removed from Redis.
        case forgotten
        /// It ended: what became of its photos.
        case completion(Completion)
        /// A worker has claimed operations.
        case claimed(operations: [Int], worker: String)
        /// A worker has handed an operation back.
        case released(operation: Int)
        /// An operation of a worker that died was queued again; so many have died with it.
        case recovered(operation: Int, leaseExpiries: Int)
        /// An operation has ended: each of its photos is final.
        case ended(operation: Int)
        /// What became of photos, by index; of those that changed more than once meanwhile, the last. So many changes
        /// before these were too many to be told.
        case photos([Int: PhotoRecordState], worker: String, dropped: Int = 0)
        /// A message with this name that this version does not know, or whose fields it does not understand.
        case other(String)
    }

    /// What became of the photos of a batch that has ended.
    public struct Completion: Sendable, Equatable {
        /// 1, and one more with every retry.
        public var round: Int
        /// True when it was cancelled.
        public var isCancelled: Bool
        /// All photos of it.
        public var photos: Int
        /// Those that are done.
        public var filtered: Int
        /// Those that failed.
        public var failed: Int
        /// Those that were cancelled.
        public var cancelled: Int

        /// What became of the photos.
        public init(round: Int, isCancelled: Bool, photos: Int, filtered: Int, failed: Int, cancelled: Int) {
            self.round = round
            self.isCancelled = isCancelled
            self.photos = photos
            self.filtered = filtered
            self.failed = failed
            self.cancelled = cancelled
        }
    }

    /// An event.
    public init(_ kind: Kind, batch: BatchID? = nil, time: Int) {
        self.kind = kind
        self.batch = batch
        self.time = time
    }
}
