import DarkroomConcurrency
import DarkroomFiles
import DarkroomImaging
import DarkroomLogging
import DarkroomModel
import DarkroomOrigins
import DarkroomStorage
import DarkroomStore
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// The objects that the threads of a worker share: the worker state, the local queues and the coordination.
///
/// Each thread passes events to `handle(_:)` or ``effects(of:)``, which perform the effects on the same thread, without
/// holding the lock.
final class WorkerCore: Sendable {
    let coordination: Coordination
    let configuration: PhotoWorkerConfiguration
    let hooks: WorkerHooks
    /// Wakes the storage monitor, for example when an output cannot be written.
    let outputSignal = Signal()
    let fileCalls: FileCalls
    /// Makes the calls that access the storage of batches.
    let storageCalls: StorageCalls
    /// The contexts of the batches whose operations were claimed.
    let contexts = Locked<[BatchID: BatchContext]>([:])
    /// The files of the operations that run in this worker.
    let files = Locked<[HeldOperation: OperationFiles]>([:])
    /// The faults that cause the storage outages.
    let outages = Locked(OutageFaults())
    let rate = Rate()
    let waitSamples = WaitSamples()
    /// The time at which the worker was created, in ms since 1970 by the local clock.
    let started = Int(Date().timeIntervalSince1970 * 1000)
    private let onDueWebhooks: @Sendable ([DueWebhook]) -> Void
    private let state: Locked<WorkerState>
    private let pending: PendingOperations
    let engine: TransferEngine
    let origins: OriginSchemes
    let originalsCalls: OriginalsCalls
    private let filtrationThreads: FiltrationThreads
    private let helpers: PhotoHelpers?
    // Not `Locked<Void>`: a value of size 0 shares its address with other variables, so the thread sanitizer reports races on it.
    private let limits = NSLock()
    private let urgencies = NSLock()
    /// Removes stale temporary files on a separate thread, so that an unresponsive folder does not block other work.
    private let cleaner = ThreadPool("darkroom-cleaner", maxThreads: 1)

    init(
        id: String, store: BatchStore, configuration: PhotoWorkerConfiguration, transfer: TransferConfiguration,
        hooks: WorkerHooks, observer: WorkerObserver?, logger: Logger,
        onDueWebhooks: @escaping @Sendable ([DueWebhook]) -> Void
    ) {
        coordination = Coordination(id: id, store: store, logger: logger, observer: observer)
        self.configuration = configuration
        self.hooks = hooks
        self.onDueWebhooks = onDueWebhooks
        storageCalls = StorageCalls(
            patience: hooks.claimPatience, roots: configuration.outputFolders + configuration.downloadRules.folders)
        fileCalls = FileCalls(patience: hooks.fileCallPatience, claimPatience: hooks.claimPatience * 2)
        var ofEngine = transfer
        ofEngine.maxRequests = OpenFileLimit.raise(forConnections: transfer.maxRequests)
        ofEngine.accept = Imaging.accept()
        engine = TransferEngine(ofEngine, exchange: SharedHosts(coordination))
        filtrationThreads = FiltrationThreads(priority: configuration.threadPriority, logger: logger)
        helpers = configuration.makeHelpers()
        let rules = FetchRules(transfer)
        origins = OriginSchemes(engine, rules)
        originalsCalls = OriginalsCalls(rules, fileCalls, worker: id)
        pending = PendingOperations(filtrations: configuration.filtrationSlots)
        state = Locked(
            WorkerState(
                .init(
                    downloads: configuration.downloadSlots, filtrations: configuration.filtrationSlots,
                    maxBytesHeld: configuration.maxWaitingBytes, leastDeferral: hooks.leastDeferral)))
    }

    func read<Answer>(_ question: (WorkerState) -> Answer) -> Answer { state.withLock { question($0) } }

    func effects(of event: WorkerState.Event) -> [WorkerState.Effect] {
        let effects = state.withLock { $0.handle(event) }
        if let observer = coordination.observer, let trace = TraceEvent(event, effects) { observer(.step(trace)) }
        return effects.filter { !perform($0) }
    }

    /// Handles the request to start a step, and returns whether the step may start.
    private func mayProceed(_ event: WorkerState.Event) -> Bool {
        effects(of: event).contains { if case .proceed = $0 { true } else { false } }
    }

    /// Performs an effect. Returns false if the caller of ``effects(of:)`` must perform the effect.
    private func perform(_ effect: WorkerState.Effect) -> Bool {
        switch effect {
        case .schedule(let urgently): handle(.schedule(urgently: urgently))
        case .download(let task, let urgency):
            if let files = files(of: task.operation) {
                begin(RunningPhoto(task: task, context: files.context, sink: files.sink), urgency)
            } else {
                handle(.downloadEnded(task, nil))  // the operation has been dropped
            }
        case .dropped(let held):
            // The release of the last reference closes the folder, so the reference is released after the lock.
            _ = files.withLock { $0.removeValue(forKey: held) }
        case .outageEnded(let number): outages.withLock { $0.end(number) }
        case .filter(let job):
            pending.filter(job, work: filter)
            if read({ $0.urgency(of: job.task) }).priority != job.priority { reorder(job.task) }
        case .cancel(let task): task.cancellation.cancel()
        case .withdraw(let task): task.cancellation.withdraw()
        case .reorder(let task): reorder(task)
        case .applyLimits: applyLimits()
        case .openDownloads: openDownloads()
        case .resumeDownloads: engine.resume()
        case .wakeClaims: coordination.claimSignal.raise()
        case .wakeReports: coordination.reportSignal.raise()
        case .wakeHeartbeat: coordination.heartbeatSignal.raise()
        case .proceed, .leaseLost, .left, .removeManifest, .release, .outputBlocked, .outage, .checkStorage:
            return false
        }
        return true
    }

    private func reorder(_ task: PhotoTask) {
        // With the lock, no thread can overwrite the current urgency with an urgency that it read earlier.
        urgencies.withLock { pending.reorder(task, read { $0.urgency(of: task) }) }
    }

    private func applyLimits() {
        // With the lock, no thread can overwrite the current limits with limits that it read earlier.
        limits.withLock { pending.setFiltrations(read { $0.limits.filtrations }) }
    }

    private func openDownloads() {
        limits.withLock { engine.open(fromPriority: read { $0.lowestOpen }) }  // as above
    }

    // MARK: Coordination

    var demand: ClaimDemand {
        guard hooks.work == .photos else {
            return ClaimDemand(lowest: read { $0.held.count < 64 } ? .veryLow : nil)
        }
        return read { $0.demand }
    }

    func claimSize(from priority: BatchPriority) -> ClaimSize {
        hooks.work == .photos ? read { $0.claimSize(from: priority) } : .most
    }

    var hanging: FileCalls.Hanging { fileCalls.hanging(.now, limits: read { $0.limits }) }

    var isStuck: Bool { hanging.isAll }

    var renewed: (operations: [HeldOperation], stuck: Int) {
        let held = read { $0.held }
        let hanging = hanging
        let operations = hanging.isAll ? [] : held.filter { !hanging.operations.contains($0) }
        return (operations, held.count - operations.count)
    }

    /// The files of an operation; nil if the operation does not run in this worker.
    func files(of held: HeldOperation) -> OperationFiles? { files.withLock { $0[held] } }

    /// Removes the manifest lines that other workers wrote for an operation that has ended in this worker.
    func removeOtherManifests(_ files: OperationFiles) {
        // While this call hangs, the worker can report nothing.
        fileCalls.run(for: nil) { files.sink.removeOthers() }
    }

    func removeStaleFiles(of held: HeldOperation) {
        cleaner.perform { [self] in
            // If the facts cannot be read now, a later heartbeat reply to this or another worker names the operation
            // again.
            guard let batch = try? coordination.store.facts(of: held.batch), batch.damage.isEmpty else { return }
            removeStaleFiles(of: held, batch)
        }
    }

    func deliver(_ webhooks: [DueWebhook]) { onDueWebhooks(webhooks) }

    // MARK: Operations

    /// Adds a claimed operation to the worker state, which starts photos if there is room.
    /// - Throws: `EntryError` if its entry is damaged; ``StorageFault`` if the lines of earlier claims cannot be read.
    func accept(
        _ claimed: ClaimedOperation, _ context: BatchContext, _ storage: any HeldStorage,
        willAccess: (_ location: String) -> Void
    ) throws {
        guard hooks.work == .photos else {
            let lines = [[UInt8]?](repeating: nil, count: claimed.stateCodes.count)
            var operation = LocalOperation(claimed, context.options, records: [], lines: lines)
            operation.skipAll()
            begin(
                operation,
                OperationFiles(context: context, sink: try storage.begin(claimed, [], worker: coordination.id)))
            return
        }
        let firstIndex = (claimed.held.number - 1) * context.options.operationSize
        let records = try OperationEntry.records(of: claimed.entry, firstIndex: firstIndex)
        guard !records.isEmpty, records.count == claimed.stateCodes.count else {
            throw EntryError(
                "operation \(claimed.held.number) of \(claimed.held.batch): its entry has \(records.count) photos, "
                    + "\(claimed.stateCodes.count) were fed")
        }
        let sink = try storage.begin(claimed, records, worker: coordination.id)
        if claimed.leaseExpiries > 0, let originals = context.originals {
            willAccess(originals.folder.path)
            originals.folder.removeRemains(of: claimed.held, records)
        }
        var operation = LocalOperation(
            claimed, context.options, records: records, lines: sink.past,
            domains: storage.domains.union([context.originals?.domain].compactMap(\.self)))
        if claimed.leaseExpiries >= Self.maxLeaseExpiries {
            operation.finishAll(.failed(.crashed))
            coordination.logger.error(
                "operation reported as crashed, every worker that ran it crashed", key: claimed.held.batch.description,
                LogMetadata(claimed.held).adding(["leaseExpiries": .number(claimed.leaseExpiries)]))
        } else if operation.isQuarantined {
            coordination.logger.warning(
                "workers crashed while running an operation, its photos run one by one",
                key: claimed.held.batch.description,
                LogMetadata(claimed.held).adding(["leaseExpiries": .number(claimed.leaseExpiries)]))
        }
        begin(operation, OperationFiles(context: context, sink: sink))
    }

    private func begin(_ operation: LocalOperation, _ operationFiles: OperationFiles) {
        files.withLock { $0[operation.held] = operationFiles }
        handle(.prepared(operation))
    }

    /// An operation fails after this number of lease expiries, if none of its photos became final between the expiries.
    private static let maxLeaseExpiries = 5

    // MARK: Photos

    private func begin(_ photo: RunningPhoto, _ urgency: Urgency) {
        guard !photo.task.isStored, let call = crashProbe(photo.task, begins: true) else {
            return download(photo, urgency)
        }
        coordination.store.send([call]) { [self] _ in download(photo, urgency) }
    }

    /// The report that starts or ends the crash probe of a photo. Nil if no report is needed. The probe covers the
    /// steps that could crash this process: transfers, and filtrations outside of a helper.
    ///
    /// Even if the reply is an error, the step starts: no lease expires while Redis is unreachable, and the next
    /// heartbeat detects all other errors.
    private func crashProbe(_ task: PhotoTask, begins: Bool) -> ScriptCall<ReportReply>? {
        read { $0.crashProbe(of: task, begins: begins) }.map { codes in
            coordination.store.report(
                task.operation, worker: coordination.id, stateCodes: codes, bytesIn: 0, bytesOut: 0)
        }
    }

    private func download(_ photo: RunningPhoto, _ urgency: Urgency) {
        let task = photo.task
        let steps = TransferSteps(
            mayBegin: { [self] in mayProceed(.downloadBegins(task)) },
            waits: { [self] in handle(.downloadWaits(task, isIdle: $0.isIdle, until: $0.end, $1)) },
            mayCarry: { [self] in mayProceed(.downloadCarries(task, bytes: $0)) })
        pending.download(photo, urgency, steps) { [self] in
            fetch(photo, $0, $1)
        } ended: { [self] in
            downloaded(photo, $0)
        }
        // The urgency may have changed before the download was added.
        if read({ $0.urgency(of: task) }) != urgency { reorder(task) }
    }

    private func downloaded(_ photo: RunningPhoto, _ result: Result<Download, TransferError>) {
        let task = photo.task
        switch result {
        case .success(let image):
            coordination.events.note(task, .downloaded)  // before its filtration can end
            if !task.isStored, let call = crashProbe(task, begins: false) { coordination.store.send([call]) { _ in } }
            handle(.downloaded(task, bytes: image.body.count))
        case .failure(let error):
            let outcome = FailureReason(error).map { PhotoFiltration.failure(photo, $0, error) }
            if let outcome { note(outcome, of: task) }
            handle(.downloadEnded(task, outcome))
        }
    }

    private func filter(_ job: FilterJob) {
        let task = job.task
        guard mayProceed(.filterBegins(job)) else { return }
        // If the photo has been cancelled, its bytes have been freed.
        guard let (photo, image) = pending.takeImage(of: task) else {
            handle(.filterEnded(job, nil))
            return
        }
        let isolatesEverything = task.isQuarantined || configuration.isolatesEveryPhoto
        let context = photo.context
        // With helpers, the photos of quarantined operations, which have crash probes, do not run in this process.
        if helpers == nil, let call = crashProbe(task, begins: true) { _ = coordination.store.results(of: [call]) }
        let filtration = PhotoFiltration(
            photo: photo, image: image, worker: coordination.id, attempt: job.attempt, fileCalls: fileCalls,
            isWanted: { [self] in
                waitForLeases()
                return mayProceed(.placing(job))
            },
            isWaitedFor: { [self] in isWaitedFor($0, of: context) })
        let maker = PhotoMaker(context.recipe, helpers: helpers, isolatesEverything: isolatesEverything)
        let outcome = filtrationThreads.run { filtration.run(maker) }
        if let outcome { note(outcome, of: task) }
        handle(.filterEnded(job, outcome))
    }

    /// Publishes the outcome of a photo, and logs a failure.
    private func note(_ outcome: PhotoOutcome, of photo: PhotoTask) {
        coordination.events.note(photo, outcome.state)
        guard case .failed(let reason) = outcome.state else { return }
        // The key limits the log to one line per second for each batch and reason.
        coordination.logger.warning(
            "photo failed", key: "\(photo.operation.batch) \(reason.word)",
            LogMetadata(photo, reason, outcome.line))
    }

    /// Ends the transfer thread, the helper processes and the idle processes of commands.
    func shutDown() {
        engine.shutdown()
        helpers?.stop()
        for case .command(let command) in configuration.customFilters.values { command.stop() }
        cleaner.close()
        storageCalls.close()
    }
}
