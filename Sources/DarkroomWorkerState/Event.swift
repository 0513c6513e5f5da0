import DarkroomModel
import DarkroomStore

extension WorkerState {
    /// Something that happened, or a question of a thread that is about to begin a step.
    package enum Event: Sendable {
        // Leases.
        /// A claim brought these operations: their leases are renewed while they are prepared.
        case claimed([HeldOperation])
        /// An operation can run here.
        case prepared(LocalOperation)
        /// An operation does not run here.
        case declined(HeldOperation)
        /// Redis said that these operations are not this worker's any more.
        case lost([HeldOperation])
        /// Redis has taken an operation back.
        case released(HeldOperation)
        /// Redis said that an operation has ended.
        case ended(HeldOperation)
        /// Files of these operations may be lost: their photos must run again.
        case filesLost([HeldOperation])
        /// A claim was answered: it brought operations of these batches.
        case claimAnswered(ClaimScope, Set<BatchID>)

        // Controls.
        /// A change was published.
        case noticed(ChangeNotice)
        /// Redis told controls.
        case answered(ControlsAnswer)
        /// Redis said that a batch is cancelled.
        case batchCancelled(BatchID)
        /// Redis told final state codes of an operation's photos.
        case stateCodes([UInt8], of: HeldOperation)

        // Photos.
        /// Photos may begin where there is room. `urgently`: one by one, even while the filters have enough to do.
        case schedule(urgently: Bool)
        /// A download waits for its host or for another attempt.
        case downloadWaits(PhotoTask)
        /// A download, or another attempt of it, is about to begin. It may if the effects contain ``Effect/proceed(isFirst:)``.
        case downloadBegins(PhotoTask)
        /// The bytes of a photo are here.
        case downloaded(PhotoTask, bytes: Int)
        /// A download brought no bytes; the outcome is nil if it was cancelled or withdrawn.
        case downloadEnded(PhotoTask, PhotoOutcome?)
        /// A filter is about to begin. It may if the effects contain ``Effect/proceed(isFirst:)``.
        case filterBegins(FilterJob)
        /// A file is about to get its final name. It may if the effects contain ``Effect/proceed(isFirst:)``.
        case placing(FilterJob)
        /// A filter ended; the outcome is nil if it was cancelled or is to run again.
        case filterEnded(FilterJob, PhotoOutcome?)

        // Storage.
        /// The output folder of a batch was opened; its file system has this number.
        case outputOpened(BatchID, device: UInt)
        /// A file could not be written, for a while.
        case storageFault(StorageReport)
        /// Something else keeps files from being written now.
        case storageChanged(Int, any StorageFault)
        /// Files can be written again.
        case storageRecovered(Int)
        /// It is time to check the outages.
        case storageChecksDue(now: ContinuousClock.Instant)

        // Reports.
        /// It is time to report changes that are older than `age`, and operations that are done.
        case reportsDue(now: ContinuousClock.Instant, olderThan: Duration)
        /// A report arrived, and its operation goes on.
        case reported(Report, now: ContinuousClock.Instant)
        /// It is time to release operations that do not go on here.
        case releasesDue(now: ContinuousClock.Instant)

        // The end.
        /// The worker stops: nothing begins any more.
        case stopping
        /// The grace time is over: nothing goes on any more.
        case aborting
    }

    /// What the driver does after an event, in this order.
    package enum Effect: Sendable {
        // Photos.
        /// The step that was asked for may begin. Of a download: whether it is the first attempt.
        case proceed(isFirst: Bool)
        /// Begin a download.
        case download(PhotoTask, Urgency)
        /// Put a filter into the local queue.
        case filter(FilterJob)
        /// Cancel a photo.
        case cancel(PhotoTask)
        /// Withdraw a download unless it has begun.
        case withdraw(PhotoTask)
        /// ``WorkerState/urgency(of:)`` of a photo has changed.
        case reorder(PhotoTask)
        /// ``WorkerState/limits`` have changed.
        case applyLimits

        // Operations.
        /// The lease of an operation was lost. It is `expected` if the operation was ending, or not prepared yet.
        case leaseLost(HeldOperation, expected: Bool)
        /// An operation has left that was local.
        case left(HeldOperation)
        /// Remove the manifest file of an operation: none of its lines is reported.
        case removeManifest(HeldOperation, any OperationResources)
        /// Report an operation.
        case report(Report)
        /// Release an operation.
        case release(Release)

        // Storage.
        /// The output of the batch cannot be written now, for this reason.
        case outputBlocked(String)
        /// A new outage; so many local batches wait.
        case outageBegan(batches: Int)
        /// Check whether files can be written again.
        case checkStorage(StorageOutage)

        // Threads.
        /// Handle ``Event/schedule(urgently:)`` now.
        case schedule(urgently: Bool)
        /// There may be something to claim.
        case wakeClaims
        /// There may be something to report or to release.
        case wakeReports
        /// Only a heartbeat can tell the present controls.
        case wakeHeartbeat
    }

    /// A report as it is to be sent.
    package struct Report: Sendable {
        /// The operation.
        package let held: HeldOperation
        /// Data of the driver.
        package let resources: any OperationResources
        /// By position: `.` where nothing is known, `D`, or a final state code.
        package let stateCodes: [UInt8]
        /// By position: the manifest's lines of final photos.
        package let lines: [[UInt8]?]
        /// Bytes transferred, in total.
        package let bytesIn: Int
        /// Bytes of files, in total.
        package let bytesOut: Int
        /// Photos that failed and are not reported.
        package let failures: [(index: Int, json: [UInt8])]
        /// Whether other workers may have left manifest files of the operation.
        package let hasPast: Bool
        /// The batch is cancelled: only the manifest is written, and Redis hears of it by the release.
        package let isCancelled: Bool
        let version: Int
    }

    /// An operation that is to be released.
    package struct Release: Sendable {
        /// The operation.
        package let held: HeldOperation
        /// Data of the driver; nil if the operation did not run here.
        package let resources: (any OperationResources)?
        /// Whether other workers may have left manifest files of the operation.
        package let hasPast: Bool
    }
}
