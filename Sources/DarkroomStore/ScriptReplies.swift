import DarkroomModel

/// What submit answers.
public enum SubmitReply: Sendable, Equatable {
    /// Submitted, at this time in ms of the Redis clock.
    case submitted(at: Int)
    /// The id was submitted before.
    case exists
    /// The id was submitted before, and the batch was forgotten since then.
    case forgotten
    /// That batch writes to the output folder.
    case outputTaken(by: BatchID)
    /// That batch has the name, and has neither finished nor been cancelled; nothing was submitted.
    case nameTaken(by: BatchID)
    /// There is no such batch to wait for; nothing was submitted.
    case gone(BatchID)
}

/// What feed answers; everything but ``fed`` wrote nothing.
public enum FeedReply: Sendable, Equatable {
    case fed
    case gone
    /// This operation number is the next.
    case expects(Int)
    case sealed
    /// The last operation was a short one, none can follow it.
    case short
    /// As many operations as the window allows have not ended.
    case full
    /// The batch was cancelled: nobody wants what is fed.
    case cancelled
}

/// What seal answers.
public enum SealReply: Sendable, Equatable {
    case sealed
    case gone
    /// There is something else in Redis; nothing was sealed.
    case differs(operations: Int, photos: Int)
    /// The batch was cancelled.
    case cancelled
}

/// What growing a batch answers.
public enum GrowReply: Sendable, Equatable {
    case grown
    case gone
    /// The batch was cancelled.
    case cancelled
    /// Something else was fed meanwhile; nothing was changed.
    case differs
    /// Another batch has taken the output folder; nothing was changed.
    case outputTaken(by: BatchID)
    /// The last operation executes, or what waited for the batch is just being released: try again.
    case busy
}

/// An operation that a worker holds: who takes it may run its photos.
public struct HeldOperation: Sendable, Hashable {
    /// The batch it is of.
    public let batch: BatchID
    /// Its number in the batch, from 1.
    public let number: Int
    /// Under which claim it is held.
    public let fence: Int

    /// An operation under the fence of its claim.
    public init(batch: BatchID, number: Int, fence: Int) {
        self.batch = batch
        self.number = number
        self.fence = fence
    }
}

/// What has changed in what a worker refuses, as a claim tells it. Redis keeps the refusals with the worker's hash, so that
/// claims look past any number of refused batches.
public struct RefusalChanges: Sendable, Equatable {
    /// The most batches of each kind in one claim.
    public static let limit = 1000

    /// Whether the refusals that Redis knows are forgotten first.
    public var replacesAll: Bool
    /// Batches that the worker refuses from now on.
    public var added: [BatchID]
    /// Batches that the worker no longer refuses.
    public var removed: [BatchID]

    /// Changes; none unless they are given.
    public init(replacesAll: Bool = false, added: [BatchID] = [], removed: [BatchID] = []) {
        self.replacesAll = replacesAll
        self.added = added
        self.removed = removed
    }
}

/// An operation as a claim hands it out.
public struct ClaimedOperation: Sendable, Equatable {
    /// Batch, number and fence.
    public let held: HeldOperation
    /// One letter a photo, as they stand.
    public let letters: [UInt8]
    /// How many leases of it have expired.
    public let deaths: Int
    /// Its photos, deflated behind the version byte, see ``EntryCoding``.
    public let entry: [UInt8]
}

/// What claim answers.
public enum ClaimReply: Sendable, Equatable {
    /// A later claim was answered already; nothing was done.
    case old
    case claimed(Claimed)
}

/// What a claim brought.
public struct Claimed: Sendable, Equatable {
    /// The operations handed out.
    public var operations: [ClaimedOperation]
    /// Of those held, those that are queued again or another's.
    public var lost: [HeldOperation]
    /// Where to go on, "" when all was looked at.
    public var next: String
    /// The number of the last change of a flag, limit, priority or focus.
    public var version: Int
    /// What holds for the cluster.
    public var cluster: ClusterSteering
    /// The turn of the rings, which grows whenever a batch enters one.
    public var turn: Int
    /// How many batches Redis knows that the worker refuses.
    public var refusals: Int
    /// What holds for each batch of the operations handed out.
    public var steering: [BatchID: Steering]
    /// Invalid ids of batches in the reply. Their operations are not run.
    public var invalid: [String] = []
    /// What is wrong with batches of which an operation cannot be run.
    public var damaged: [BatchID: String] = [:]
}

/// What heartbeat answers.
public struct HeartbeatReply: Sendable, Equatable {
    /// The letters of an operation that the worker holds.
    public struct Letters: Sendable, Equatable {
        /// The batch it is of.
        public let batch: BatchID
        /// Its number in the batch.
        public let number: Int
        /// One letter a photo.
        public let letters: [UInt8]
    }

    /// Of those held, those that are queued again or another's.
    public var lost: [HeldOperation]
    /// The number of the last change of a flag, limit, priority or focus.
    public var version: Int
    /// What holds for the cluster.
    public var cluster: ClusterSteering
    /// What holds for each batch that was named and is there.
    public var steering: [BatchID: Steering]
    /// What is held of batches in which photos were cancelled one by one.
    public var letters: [Letters]
    /// Up to 10 whose time has come.
    public var webhooks: [DueWebhook]
    /// True when the housekeeping has more to do, so that another heartbeat at once is welcome.
    public var hasMore: Bool
    /// The turn of the rings, which grows whenever a batch enters one.
    public var turn: Int
    /// An operation of a cancelled batch whose worker died under this fence: its temporary files are to be removed.
    public var leftover: HeldOperation?
}

/// A webhook that is to be called.
public struct DueWebhook: Sendable, Hashable {
    /// `<batch id> <round>`.
    public let member: String
    /// When it was due, in ms since 1970 of the Redis clock.
    public let score: Int
    /// Where to.
    public let url: String
    /// The batch that has finished.
    public let batch: BatchID
    /// Which completion of the batch this is, counted from 1.
    public let round: Int

    /// A webhook as Redis lists it; nil when the member names no batch.
    public init?(member: String, score: Int, url: String) {
        let parts = member.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, let batch = BatchID(String(parts[0])), let round = Int(parts[1]),
            StoredBounds.numbers.contains(round)
        else { return nil }
        self.batch = batch
        self.round = round
        self.member = member
        self.score = score
        self.url = url
    }
}

/// What report answers.
public enum ReportReply: Sendable, Equatable {
    /// Taken. The letters are there only where a final one was met that differs from what was reported. `version` is the
    /// number of the last change of a flag, limit, priority or focus.
    case accepted(ended: Bool, letters: [UInt8]?, version: Int = 0)
    /// The batch is cancelled: nothing was changed. What was new or downloaded reads as cancelled.
    case cancelled(letters: [UInt8])
    case gone
    /// The operation is queued again or another's: the result is to be dropped.
    case lost
    /// The operation is neither queued nor executing; the letters as they stand.
    case ended(letters: [UInt8])
}

/// What hand-back answers.
public enum HandbackReply: Sendable, Equatable {
    case queued
    case gone
    case lost
    case ended(letters: [UInt8])
    /// The batch is cancelled, so that the operation has ended.
    case cancelled(letters: [UInt8])
}

/// What forget answers.
public enum ForgetReply: Sendable, Equatable {
    case forgotten
    /// Call again.
    case more
    case gone
    /// The batch is not finished, and only a finished one was to be forgotten.
    case unfinished(BatchState)
}
