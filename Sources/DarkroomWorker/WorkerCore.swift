import DarkroomConcurrency
import DarkroomExecution
import DarkroomImaging
import DarkroomLogging
import DarkroomModel
import DarkroomOutput
import DarkroomStore
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// What the threads of a worker share: the state behind its lock, the local queues, and the signals between them.
///
/// Each thread reports events with ``handle(_:)``, which performs the effects on the same thread, without the lock.
final class WorkerCore: Sendable {
    let id: String
    let store: BatchStore
    let configuration: WorkerConfiguration
    let logger: Logger
    /// Raised when there may be room or work to claim.
    let claimSignal = Signal()
    /// Raised when there may be something to report or to hand back.
    let reportSignal = Signal()
    /// Raised when a heartbeat is to be sent at once.
    let heartSignal = Signal()
    /// Raised when an output cannot be written.
    let outputSignal = Signal()
    /// Set when the worker is to leave without finishing anything.
    let leaving = Latch()
    /// Set when nothing more is claimed, whatever Redis answers.
    let claimsEnd = Latch()
    /// Whether the last heartbeat arrived: after Redis was away, renewing comes first, then reports, then claims.
    let heartBeats = Locked(false)
    /// The turn of the rings as the last heartbeat told it; taken by the claimer.
    let ringsTurn = Locked<Int?>(nil)
    /// The batches that this worker refuses.
    let refusals = Locked(Refusals())
    /// Holds back a worker that stood still.
    let lookout = Lookout()
    let fileCalls: FileCalls
    let rate = Rate()
    let events: PhotoEvents
    /// Gets the webhooks that a heartbeat finds due, on the heart's thread: it must not block.
    let onDueWebhooks: @Sendable ([DueWebhook]) -> Void
    private let state: Locked<WorkerState>
    private let pending: PendingOperations
    private let engine: TransferEngine
    private let filtrationThreads: FiltrationThreads
    private let helpers: PhotoHelpers?
    private let limits = Locked(())
    /// Removes leftovers: a folder that does not answer must hold up nothing else.
    private let cleaner = ThreadPool("darkroom-cleaner", maxThreads: 1)

    init(
        id: String, store: BatchStore, configuration: WorkerConfiguration, logger: Logger,
        onDueWebhooks: @escaping @Sendable ([DueWebhook]) -> Void = { _ in }
    ) {
        self.id = id
        self.store = store
        self.configuration = configuration
        self.logger = logger
        self.onDueWebhooks = onDueWebhooks
        fileCalls = FileCalls(
            patience: configuration.fileCallPatience, claimPatience: configuration.claimPatience * 2)
        var transfer = configuration.transfer
        transfer.maxRunning = configuration.downloads
        engine = TransferEngine(transfer)
        events = PhotoEvents(worker: id, channel: store.keys.eventsChannel, connection: store.connection)
        filtrationThreads = FiltrationThreads(priority: configuration.threadPriority, logger: logger)
        helpers = configuration.helpers.map(PhotoHelpers.init)
        let isWaitedFor = Locked<(@Sendable (OutputWriter.Failure, BatchContext) -> Bool)?>(nil)
        let source = OriginalsSource(
            TransferSource(engine: engine), rules: FetchRules(configuration.transfer), worker: id
        ) { failure, context in
            isWaitedFor.withLock { $0 }?(failure, context) ?? false
        }
        pending = PendingOperations(filtrations: configuration.filtrations, source: source)
        state = Locked(
            WorkerState(
                .init(
                    downloads: configuration.downloads, filtrations: configuration.filtrations,
                    maxBytesHeld: configuration.maxBytesHeld, holdsSuspended: configuration.holdsSuspended,
                    holdsBlocked: configuration.holdsBarred)))
        isWaitedFor.withLock { $0 = { [weak self] in self?.isWaitedFor($0, of: $1) ?? true } }
    }

    // MARK: State

    /// Reads the state.
    func read<Answer>(_ question: (WorkerState) -> Answer) -> Answer { state.withLock { question($0) } }

    /// Changes the state, and performs the effects that do not need the caller.
    /// - Returns: all effects.
    @discardableResult
    func handle(_ event: WorkerState.Event) -> [WorkerState.Effect] {
        let effects = state.withLock { $0.handle(event) }
        if let observer = configuration.observer, let trace = TraceEvent(event, effects) { observer(trace) }
        for effect in effects { perform(effect) }
        return effects
    }

    /// Asks whether a step may begin.
    private func mayProceed(_ event: WorkerState.Event) -> Bool {
        handle(event).contains { if case .proceed = $0 { true } else { false } }
    }

    private func perform(_ effect: WorkerState.Effect) {
        switch effect {
        case .schedule(let urgently): handle(.schedule(urgently: urgently))
        case .download(let task, let urgency): begin(task, urgency)
        case .filter(let job): pending.filter(job, work: filter)
        case .cancel(let task): task.cancellation.cancel()
        case .withdraw(let task): task.cancellation.withdraw()
        case .reorder(let task): pending.reorder(task, read { $0.urgency(of: task) })
        case .applyLimits: applyLimits()
        case .wakeClaims: claimSignal.raise()
        case .wakeReports: reportSignal.raise()
        case .wakeHeartbeat: heartSignal.raise()
        case .proceed, .leaseLost, .left, .removeManifest, .report, .release, .outputBlocked, .outageBegan,
            .checkStorage:
            break  // for the caller
        }
    }

    private func applyLimits() {
        // One thread after the other, so that the last one sets the present limits.
        limits.withLock { _ in
            let (downloads, filtrations) = read { $0.limits }
            engine.setMaxRunning(downloads)
            pending.setFiltrations(filtrations)
        }
    }

    /// Redis did not do what it was asked: the heart is to find out whether it is there, before anything else is tried.
    func redisFailed(_ error: StoreError) {
        heartBeats.withLock { $0 = false }
        // The heart says when Redis is away or not ready; what will not pass by itself would be said by nobody else.
        if !error.isPassing { logger.error("Redis did not do what it was asked", ["detail": .text(error)]) }
        heartSignal.raise()
    }

    /// Blocks after a standstill until Redis was asked what is still this worker's, see ``Lookout``.
    func waitForLook() {
        guard let lease = read({ $0.shortestLease }) else { return }
        lookout.wait(lease: lease) { heartSignal.raise() }
    }

    /// The operations that wait for file system calls that do not return.
    var hanging: FileCalls.Hanging { fileCalls.hanging(.now, filtrations: read { $0.limits.filtrations }) }

    /// The operations whose leases this worker renews: those that it holds without those that hang. `left` is the number of
    /// the latter.
    var renewed: (operations: [HeldOperation], left: Int) {
        let held = read { $0.held }
        let hanging = hanging
        let operations = hanging.isAll ? [] : held.filter { !hanging.operations.contains($0) }
        return (operations, held.count - operations.count)
    }

    // MARK: Operations

    /// Takes up an operation that was claimed, and begins what there is room for.
    func accept(
        _ claimed: ClaimedOperation, _ context: BatchContext, _ folder: OpenFolder?
    ) throws(StoreError) {
        guard configuration.work == .photos else {
            let lines = [[UInt8]?](repeating: nil, count: claimed.letters.count)
            var operation = LocalOperation(claimed, context.options, records: [], lines: lines, OperationFiles(context))
            operation.skipAll()
            handle(.prepared(operation))
            return
        }
        let firstIndex = (claimed.held.number - 1) * context.options.operationSize
        let records = try EntryCoding.records(of: claimed.entry, firstIndex: firstIndex)
        guard records.count == claimed.letters.count else { throw .photosDiffer(claimed, records.count) }
        let past = ManifestFiles.takeOver(claimed, records, context.output)
        if claimed.leaseExpiries > 0 { StaleFiles.remove(of: claimed.held, records, context.output) }
        let files = OperationFiles(context, folder: folder, forgottenFences: past.forgotten)
        var operation = LocalOperation(claimed, context.options, records: records, lines: past.lines, files)
        if claimed.leaseExpiries >= Self.maxLeaseExpiries {
            operation.finishAll(.failed(.crashed))
            logger.error(
                "operation reported as crashed, every worker that ran it died", key: claimed.held.batch.description,
                LogMetadata(claimed.held).adding(["deaths": .number(claimed.leaseExpiries)]))
        } else if operation.isQuarantined {
            logger.warning(
                "workers died on an operation, its photos run one by one", key: claimed.held.batch.description,
                LogMetadata(claimed.held).adding(["deaths": .number(claimed.leaseExpiries)]))
        }
        handle(.prepared(operation))
    }

    /// After this many expired leases without a photo that became final, an operation fails.
    private static let maxLeaseExpiries = 5

    /// Removes what a worker that died may have left of a cancelled batch, in turn; never blocks.
    func clean(_ left: HeldOperation) {
        cleaner.perform { [self] in
            // If Redis cannot be asked, another worker removes it: several are asked.
            guard let batch = try? store.facts(of: left.batch), batch.damage.isEmpty else { return }
            StaleFiles.remove(ofCancelled: left, batch, configuration)
        }
    }

    /// Redis said that these operations are not this worker's any more.
    func lost(_ lost: [HeldOperation]) {
        guard !lost.isEmpty else { return }
        var ending: Set<BatchID> = []
        for case .leaseLost(let held, let isExpected) in handle(.lost(lost)) {
            guard !isExpected else {
                logger.debug("operation no longer held", LogMetadata(held))
                ending.insert(held.batch)
                continue
            }
            logger.warning(
                "lease lost, the operation is not this worker's any more", key: held.batch.description,
                LogMetadata(held).adding(["fence": .number(held.fence)]))
        }
        noteEnd(of: ending)
    }

    /// An operation has ended.
    func ended(_ held: HeldOperation) {
        let wasLocal = handle(.ended(held)).containsLeft
        logger.debug("operation ended", LogMetadata(held))
        if wasLocal { noteEnd(of: [held.batch]) }
    }

    /// Logs each of these batches that has finished and of which this worker holds no operation any more. Reads the batches
    /// from Redis, and logs nothing if that fails.
    func noteEnd(of batches: Set<BatchID>) {
        guard logger.isEnabled(.info) else { return }
        let left = read { state in batches.filter { !state.hasOperation(of: $0) } }
        guard !left.isEmpty, let facts = try? store.facts(of: left.sorted()) else { return }
        for batch in facts where batch.state == .finished {
            logger.info("batch finished", LogMetadata(batch))
        }
    }

    // MARK: Photos

    private func begin(_ task: PhotoTask, _ urgency: Urgency) {
        guard !task.isStored, let call = crashProbe(task, begins: true) else { return download(task, urgency) }
        store.send([call]) { [self] _ in download(task, urgency) }
    }

    /// The call that tells Redis that a photo of a quarantined operation begins a step that could end this process, or has passed it:
    /// a transfer, or a filter that runs in no helper. Nil if Redis need not know.
    ///
    /// The step begins whatever the reply is: while Redis is away no lease expires, and the heartbeat hears of anything else.
    private func crashProbe(_ task: PhotoTask, begins: Bool) -> ScriptCall<ReportReply>? {
        read { $0.crashProbe(of: task, begins: begins) }.map { codes in
            store.report(task.operation, worker: id, letters: codes, bytesIn: 0, bytesOut: 0)
        }
    }

    private func download(_ task: PhotoTask, _ urgency: Urgency) {
        pending.download(
            task, urgency, mayBegin: { [self] in mayProceed(.downloadBegins($0)) },
            waits: { [self] in handle(.downloadWaits($0)) }, ended: downloaded)
    }

    private func downloaded(_ task: PhotoTask, _ result: Result<Download, TransferError>) {
        switch result {
        case .success(let image):
            events.note(task, .downloaded)  // before anything can make it filtered
            if !task.isStored, let call = crashProbe(task, begins: false) { store.send([call]) { _ in } }
            handle(.downloaded(task, bytes: image.body.count))
        case .failure(let error):
            let outcome = FailureReason(error).map { reason in
                var outcome = PhotoDevelopment.failure(task, reason, error.detail)
                outcome.line.attempts = error.attempts
                return outcome
            }
            if let outcome { note(outcome, of: task) }
            handle(.downloadEnded(task, outcome))
        }
    }

    private func filter(_ job: FilterJob) {
        let task = job.task
        guard mayProceed(.filterBegins(job)) else { return }
        // The bytes are gone if the photo was cancelled since then.
        guard let image = pending.takeImage(of: task) else {
            handle(.filterEnded(job, nil))
            return
        }
        let helpers = isForHelper(task, image) ? helpers : nil
        if helpers == nil, let call = crashProbe(task, begins: true) { _ = store.results(of: [call]) }
        let temporaryName = StaleFiles.temporaryName(
            for: String(task.record.index), fence: task.operation.fence, worker: "\(id).\(job.attempt)")
        let outcome = filtrationThreads.run { [self] in
            PhotoDevelopment.develop(
                task, image, helpers: helpers, fileCalls: fileCalls, temporaryName: temporaryName,
                isWanted: {
                    waitForLook()
                    return mayProceed(.placing(job))
                },
                isWaitedFor: { isWaitedFor($0, of: task.context) })
        }
        if let outcome { note(outcome, of: task) }
        handle(.filterEnded(job, outcome))
    }

    /// Whether a photo is developed in a helper process, if this worker has helpers. This includes photos whose library
    /// cannot be stopped. Operations of one's own run in this process by default: their author is trusted.
    private func isForHelper(_ photo: PhotoTask, _ image: Download) -> Bool {
        photo.isQuarantined || configuration.isolatesEveryPhoto
            || !photo.context.recipe.canAlwaysStop(image.body)
    }

    /// Tells how a photo ended.
    private func note(_ outcome: PhotoOutcome, of photo: PhotoTask) {
        events.note(photo, outcome.state)
        guard case .failed(let reason) = outcome.state else { return }
        // However many fail for one reason, and whatever their URLs are, it is one line a second.
        logger.warning(
            "photo failed", key: "\(photo.operation.batch) \(reason.word)",
            LogMetadata(photo, reason, outcome.line))
    }

    // MARK: Stopping

    /// Ends the thread of the transfers, and the helper processes.
    func shutDown() {
        engine.shutdown()
        helpers?.stop()
        cleaner.close()
    }
}

extension StoreError {
    static func photosDiffer(_ claimed: ClaimedOperation, _ count: Int) -> StoreError {
        StoreError(
            .damagedEntry,
            "operation \(claimed.held.number) of \(claimed.held.batch): its entry has \(count) photos, "
                + "\(claimed.letters.count) were fed")
    }
}

extension [WorkerState.Effect] {
    /// Whether an operation has left that was local.
    var containsLeft: Bool { contains { if case .left = $0 { true } else { false } } }
}
