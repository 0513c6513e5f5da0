import DarkroomModel

/// What cancel answers.
public enum CancelReply: Sendable, Equatable {
    /// It is cancelled: now, or before; finished as soon as nothing of it executes any more.
    case cancelled(isNew: Bool, isFinished: Bool)
    /// It was over before, and not by a cancel.
    case finished
    case gone
}

/// What the cancel of photos answers.
public enum CancelPhotosReply: Sendable, Equatable {
    /// How many are cancelled by this, and how many were final before.
    case cancelled(Int, wereFinal: Int)
    /// Some of them are not fed, only so many are; nothing was done.
    case notFed(photos: Int)
    case finished
    /// The whole batch was.
    case cancelledBefore
    case gone
}

/// What suspend and prioritize answer.
public enum SteerReply: Sendable, Equatable {
    /// It is so: now, or before.
    case done(isNew: Bool)
    case finished
    case cancelled
    case gone
}

/// What focus answers.
public enum FocusReply: Sendable, Equatable {
    /// It is so, and so many photos are fed.
    case done(isNew: Bool, photos: Int)
    case finished
    case cancelled
    case gone
}

/// What depend answers.
public enum DependReply: Sendable, Equatable {
    case added(isNew: Bool)
    /// The other is finished: there is nothing to wait for.
    case finishedBefore
    /// The other finished without success, which the batch waits for: the batch was cancelled.
    case failedBefore
    /// The batch has started: too late.
    case started
    /// The batch was cancelled.
    case cancelled
    /// Dependencies have changed since they were looked at.
    case moved
    case gone(BatchID)
    /// A batch cannot wait for itself.
    case itself
}

/// What undepend answers.
public enum UndependReply: Sendable, Equatable {
    /// It waits no longer; `isNew` false when it did not before.
    case removed(isNew: Bool)
    case gone(BatchID)
}

/// What retry answers.
public enum RetryReply: Sendable, Equatable {
    /// How many photos are new again, how many failed ones have no entry, and the operation to go on with.
    case retried(photos: Int, notKept: Int, next: Int?)
    case cancelled
    /// What waited for the batch is just being released: try again.
    case busy
    /// That batch has taken the output folder; nothing was done.
    case outputTaken(by: BatchID)
    case gone
}

/// What restore answers.
public enum RestoreReply: Sendable, Equatable {
    case restored
    /// It has not ended, nothing of it failed, or its entry is there.
    case notNeeded
    case gone
}

/// What taking a webhook answers.
public enum TakeWebhookReply: Sendable, Equatable {
    /// It is the caller's until `score`, as attempt number `attempts`.
    case taken(attempts: Int, score: Int)
    /// Another worker has it, or it is done.
    case moved
}
