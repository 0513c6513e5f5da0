import DarkroomModel
import DarkroomStore

extension WorkerState {
    /// An event, or a request of a thread to begin a step.
    package enum Event: Sendable {
        // Leases.
        /// A claim returned these operations: their leases are renewed while they are prepared.
        case claimed([HeldOperation])
        /// An operation can run here.
        case prepared(LocalOperation)
        /// An operation does not run here.
        case declined(HeldOperation)
        /// According to Redis, this worker no longer holds these operations.
        case lost([HeldOperation])
        /// Redis has accepted the release of an operation.
        case released(HeldOperation)
        /// According to Redis, an operation has ended.
        case ended(HeldOperation)
        /// Files of these operations may be lost: their photos must run again.
        case filesLost([HeldOperation])
        /// A claim was answered: it returned operations of these batches.
        case claimAnswered(ClaimScope, Set<BatchID>)

        // Controls.
        case noticed(ChangeNotice)
        /// The parts of one reply of Redis, in order.
        case answered([ControlsAnswer])
        case batchCancelled(BatchID)
        /// A reply of Redis had final state codes of an operation's photos.
        case stateCodes([UInt8], of: HeldOperation)

        // Photos.
        /// Photos may begin if there is room. `urgently`: one by one, even while enough photos wait for the filters.
        case schedule(urgently: Bool)
        /// A download waits for its host or for another attempt.
        case downloadWaits(PhotoTask)
        /// A download, or another attempt of it, is about to begin. It may if the effects contain ``Effect/proceed(isFirst:)``.
        case downloadBegins(PhotoTask)
        /// A download has finished; `bytes` is its size.
        case downloaded(PhotoTask, bytes: Int)
        /// A download ended without bytes; the outcome is nil if it was cancelled or withdrawn.
        case downloadEnded(PhotoTask, PhotoOutcome?)
        /// A filter is about to begin. It may if the effects contain ``Effect/proceed(isFirst:)``.
        case filterBegins(FilterJob)
        /// A file is about to get its final name. It may if the effects contain ``Effect/proceed(isFirst:)``.
        case placing(FilterJob)
        /// A filter ended; the outcome is nil if it was cancelled or must run again.
        case filterEnded(FilterJob, PhotoOutcome?)

        // Storage.
        /// The output folder of a batch was opened; its file system has this number.
        case outputOpened(BatchID, device: UInt)
        /// A file of a batch could not be written, for a while. `device` is the number of the file system if the fault affects
        /// all files on it, `others` are the other local batches that write to it. `staleFile` could not be removed.
        case storageFault(
            BatchID, any StorageFault, device: UInt? = nil, others: Set<BatchID> = [], staleFile: String? = nil)
        /// Another fault now prevents writing files.
        case storageChanged(Int, any StorageFault)
        /// Files can be written again.
        case storageRecovered(Int)
        case storageChecksDue(now: ContinuousClock.Instant)

        // Reports.
        /// A report was accepted, and its operation continues.
        case reported(Report, now: ContinuousClock.Instant)
        /// It is time to release operations that do not continue here.
        case releasesDue(now: ContinuousClock.Instant)

        // The end.
        /// The worker stops: no photo begins.
        case stopping
        /// The grace time is over: all running photos stop.
        case aborting
    }

    /// An action of the driver after an event. The driver performs the effects in their order.
    package enum Effect: Sendable {
        // Photos.
        /// The requested step may begin. For a download, `isFirst` says whether it is the first attempt.
        case proceed(isFirst: Bool)
        case download(PhotoTask, Urgency)
        /// Put a filter into the local queue.
        case filter(FilterJob)
        case cancel(PhotoTask)
        /// Withdraw a download unless it has begun.
        case withdraw(PhotoTask)
        /// ``WorkerState/urgency(of:)`` of a photo has changed.
        case reorder(PhotoTask)
        case applyLimits

        // Operations.
        /// The lease of an operation was lost. It is `expected` if the operation was ending, or not prepared yet.
        case leaseLost(HeldOperation, expected: Bool)
        /// An operation that was local has ended.
        case left(HeldOperation)
        /// Remove the manifest file of an operation: none of its lines is reported.
        case removeManifest(HeldOperation, any OperationResources)
        /// Release an operation. The data of the driver is nil if the operation did not run here. `hasPast`: other workers may
        /// have left manifest files of the operation.
        case release(HeldOperation, (any OperationResources)?, hasPast: Bool)

        // Storage.
        /// The output of the batch cannot be written now, for this reason.
        case outputBlocked(String)
        /// A new outage began; this number of local batches wait.
        case outageBegan(batches: Int)
        /// Check whether files can be written again.
        case checkStorage(StorageOutage)

        // Threads.
        /// Handle ``Event/schedule(urgently:)`` now.
        case schedule(urgently: Bool)
        /// There may be operations to claim.
        case wakeClaims
        /// There may be operations to report or to release.
        case wakeReports
        /// A heartbeat must read the present controls.
        case wakeHeartbeat
    }

    package struct Report: Sendable {
        package let held: HeldOperation
        package let resources: any OperationResources
        /// By position: `.` for no new state, `D`, or a final state code.
        package let stateCodes: [UInt8]
        /// By position: the manifest's lines of final photos.
        package let lines: [[UInt8]?]
        package let bytesIn: Int
        package let bytesOut: Int
        /// Photos that failed and are not reported.
        package let failures: [(index: Int, json: [UInt8])]
        /// Whether other workers may have left manifest files of the operation.
        package let hasPast: Bool
        /// The batch is cancelled: only the manifest is written, and the release follows instead of a report.
        package let isCancelled: Bool
        let version: Int
    }
}
