import DarkroomModel

/// Receives the observations of a worker, on the threads of the worker. Must not block.
package typealias WorkerObserver = @Sendable (WorkerObservation) -> Void

/// An event in a worker, for measurements and tests.
package enum WorkerObservation: Sendable {
    case step(TraceEvent)
    /// Redis replied to a pipeline of reports after this time.
    case reportsAnswered(Duration)
    /// Redis accepted the results of photos.
    case accepted(AcceptedPhotos)
    /// These photos were cancelled before Redis accepted their results.
    case cancelled(photos: Int)
    /// The worker lost the lease of an operation before it reported all photos.
    case leaseLost
    /// Redis replied to a call after this time.
    case redisAnswered(Duration)
    /// The worker connected to Redis again.
    case redisReconnected
}

/// Photos of one operation whose results Redis accepted with one report.
package struct AcceptedPhotos: Sendable {
    package let operation: HeldOperation
    package let photos: [FinishedPhoto]
    /// When the worker received the reply to the claim of the operation.
    package let claimed: ContinuousClock.Instant
    /// When the worker sent the report.
    package let reportBegan: ContinuousClock.Instant
    /// When Redis had accepted the report.
    package let reportEnded: ContinuousClock.Instant

    package init(
        operation: HeldOperation, photos: [FinishedPhoto], claimed: ContinuousClock.Instant,
        reportBegan: ContinuousClock.Instant, reportEnded: ContinuousClock.Instant
    ) {
        self.operation = operation
        self.photos = photos
        self.claimed = claimed
        self.reportBegan = reportBegan
        self.reportEnded = reportEnded
    }
}
