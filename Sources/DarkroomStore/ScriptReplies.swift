import DarkroomModel

/// What submit answers.
public enum SubmitReply: Sendable, Equatable {
    /// Submitted, at this time in ms of the Redis clock.
    case submitted(at: Int)
    /// The id was submitted before.
    case exists
    /// That batch writes to the output folder.
    case outputTaken(by: BatchID)
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
}

/// What seal answers.
public enum SealReply: Sendable, Equatable {
    case sealed
    case gone
    /// There is something else in Redis; nothing was sealed.
    case differs(operations: Int, photos: Int)
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
    /// The operations handed out, those held that are lost, and where to go on ("" when all was looked at).
    case claimed([ClaimedOperation], lost: [HeldOperation], next: String)
}

/// What report answers.
public enum ReportReply: Sendable, Equatable {
    /// Taken. The letters are there only where a final one was met that differs from what was reported.
    case accepted(ended: Bool, letters: [UInt8]?)
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
