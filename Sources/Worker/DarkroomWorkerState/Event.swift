import DarkroomHosts
import DarkroomModel

extension WorkerState {
    /// An event, or the request of a thread to start a step.
    package enum Event: Sendable {
        // Leases.
        /// A claim returned these operations. Their leases are renewed while the worker prepares them.
        case claimed([HeldOperation])
        /// An operation is prepared, and this worker can run it.
        case prepared(LocalOperation)
        /// This worker cannot run a claimed operation, for example because it does not see the output folder.
        case declined(HeldOperation)
        /// According to Redis, this worker no longer holds these operations.
        case lost([HeldOperation])
        /// Redis has accepted the release of an operation.
        case released(HeldOperation)
        /// According to Redis, an operation has ended.
        case ended(HeldOperation)
        /// Files of these operations may be lost, so their photos must run again.
        case filesLost([HeldOperation])
        /// Redis replied to a claim with operations of these batches.
        case claimAnswered(ClaimScope, Set<BatchID>)
        /// Claims cannot be sent now, for example because Redis is unreachable.
        case claimsPaused

        // Controls.
        case noticed(ChangeNotice)
        /// One reply of Redis contained these controls, in this order.
        case answered([ControlsAnswer])
        case batchCancelled(BatchID)
        /// A reply of Redis contained final state codes of an operation's photos.
        case stateCodes([UInt8], of: HeldOperation)

        // Photos.
        /// Start photos and filtrations if there is room. If not `urgently`, photos may start later, several at a time.
        case schedule(urgently: Bool)
        /// A download waits for a host name, for the turn of its host or for its next download attempt. `isIdle` is
        /// true if other photos do not compete for the awaited resource. `until` is the earliest time at which the wait
        /// can end; nil if this time is not known.
        case downloadWaits(PhotoTask, isIdle: Bool, until: ContinuousClock.Instant?, RetryHistory)
        /// Asks whether a download may send a request. Granted if the effects contain ``Effect/proceed(isFirst:)``.
        case downloadBegins(PhotoTask)
        /// The first byte of a body has arrived, or a body needs more memory. Asks whether `bytes` of the body may be
        /// kept. Granted if the effects contain ``Effect/proceed(isFirst:)``; otherwise the downloads ask again, in the
        /// order of their priorities, after ``Effect/resumeDownloads``.
        case downloadCarries(PhotoTask, bytes: Int)
        /// A download has finished; `bytes` is its size.
        case downloaded(PhotoTask, bytes: Int)
        /// A download ended without bytes. The outcome is nil if the download was cancelled or withdrawn.
        case downloadEnded(PhotoTask, PhotoOutcome?)
        /// Requests to start a filtration. Granted if the effects contain ``Effect/proceed(isFirst:)``.
        case filterBegins(FilterJob)
        /// Requests to give a file its final name. Granted if the effects contain ``Effect/proceed(isFirst:)``.
        case placing(FilterJob)
        /// A filtration ended. The outcome is nil if the filtration was cancelled or must run again.
        case filterEnded(FilterJob, PhotoOutcome?)

        // Storage.
        /// The storage of a batch was opened. It is in these domains.
        case outputOpened(BatchID, Set<StorageDomain>)
        /// A file of a batch temporarily cannot be written. `domain` is nil if no other batch is affected.
        case storageFault(BatchID, Refusal, domain: StorageDomain?)
        /// The cause of the outage with this number has changed. `domain` is nil if only the batch that had the fault first is
        /// affected now.
        case storageChanged(Int, Refusal, domain: StorageDomain?)
        /// The outage with this number is over: files can be written again.
        case storageRecovered(Int)
        case storageChecksDue(now: ContinuousClock.Instant)

        // Reports.
        /// Redis accepted a report, and the operation continues.
        case reported(Report, now: ContinuousClock.Instant)
        /// Operations that do not continue in this worker must be released now.
        case releasesDue(now: ContinuousClock.Instant)

        // Shutdown.
        /// The worker is stopping: it starts no more photos.
        case stopping
        /// The grace time is over: all running photos stop.
        case aborting
    }

    /// An action that the driver performs after an event. The driver performs the effects in the order of the array.
    package enum Effect: Sendable {
        // Photos.
        /// The requested step may start. For a download, `isFirst` is true at the first download attempt.
        case proceed(isFirst: Bool)
        case download(PhotoTask, Urgency)
        /// Add a filtration to the image filtration queue.
        case filter(FilterJob)
        case cancel(PhotoTask)
        /// Withdraw a download unless it has started.
        case withdraw(PhotoTask)
        /// The ``WorkerState/urgency(of:)`` of a photo has changed.
        case reorder(PhotoTask)
        case applyLimits
        /// ``WorkerState/lowestOpen`` has changed.
        case openDownloads
        /// There may be room for bodies that were held back.
        case resumeDownloads

        // Operations.
        /// The lease of an operation was lost. `expected` is true if the operation was ending or was not prepared yet.
        case leaseLost(HeldOperation, expected: Bool)
        /// An operation that was local has ended.
        case left(HeldOperation)
        /// An operation is no longer local, for any reason. Photos of the operation may still be running.
        case dropped(HeldOperation)
        /// Remove the manifest file of an operation, since no line of the file was reported.
        case removeManifest(HeldOperation)
        /// Release an operation.
        case release(Release)

        // Storage.
        /// The output of the batch cannot be written now. The refusal contains the cause.
        case outputBlocked(Refusal)
        /// The storage fault belongs to the outage with this number. If the outage is new, `beganFor` is the number of
        /// local batches that wait until the outage is over.
        case outage(Int, beganFor: Int?)
        /// The outage with this number is over, or its batches have had no operation for a long time.
        case outageEnded(Int)
        /// Check whether the files of an outage can be written again.
        case checkStorage(StorageOutage)

        // Threads.
        /// Handle ``Event/schedule(urgently:)`` now.
        case schedule(urgently: Bool)
        /// There may be operations to claim.
        case wakeClaims
        /// There may be operations to report or to release.
        case wakeReports
        /// A heartbeat must read the current controls.
        case wakeHeartbeat
    }

    package struct Release: Sendable {
        package let held: HeldOperation
        /// The priority of the batch if the operation is released for an idle worker; otherwise nil.
        package let shared: BatchPriority?
        /// Whether other workers may have left manifest files of the operation.
        package let hasPast: Bool
        /// The time from which on the operation can be claimed again; nil if it can be claimed at once.
        package let due: ContinuousClock.Instant?
        /// The URLs of the photos that wait until `due`; empty if the operation can be claimed at once.
        package let waitingURLs: [String]
        /// The known download attempts of the photos, by the position of the photo in the operation.
        package let retries: [Int: RetryHistory]
    }

    package struct Report: Sendable {
        package let held: HeldOperation
        /// The new state code of each photo, by position: `.` for unchanged, `D`, or a final state code.
        package let stateCodes: [UInt8]
        /// The positions of the filtered photos that lost their gain maps.
        package let lostGainMaps: Set<Int>
        /// The manifest lines of the final photos, by position.
        package let lines: [[UInt8]?]
        package let bytesIn: Int
        package let bytesOut: Int
        /// The failed photos that are not reported yet.
        package let failures: [(index: Int, json: [UInt8])]
        /// The photos that became final in this worker and are not reported yet.
        package let finished: [FinishedPhoto]
        /// When the worker received the reply to the claim of the operation.
        package let claimed: ContinuousClock.Instant
        /// Whether other workers may have left manifest files of the operation.
        package let hasPast: Bool
        /// Whether the batch is cancelled. In this case the worker writes the manifest and releases the operation.
        package let isCancelled: Bool
        let version: Int
    }
}
