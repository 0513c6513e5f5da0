import DarkroomConcurrency
import DarkroomImaging
import DarkroomLogging
import DarkroomModel
import DarkroomStore
import DarkroomTransfer
import Foundation

/// What the threads of a worker share: the ledger behind its lock, the local queues, and the signals between them.
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
    private let ledger: Locked<WorkerLedger>
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
        helpers = PhotoHelpers(configuration)
        let isWaitedFor = Locked<(@Sendable (OutputWriter.Failure, BatchContext) -> Bool)?>(nil)
        let source = OriginalsSource(
            TransferSource(engine: engine), rules: FetchRules(configuration.transfer), worker: id
        ) { failure, context in
            isWaitedFor.withLock { $0 }?(failure, context) ?? false
        }
        pending = PendingOperations(configuration, source: source)
        ledger = Locked(
            WorkerLedger(
                downloads: configuration.downloads, filtrations: configuration.filtrations,
                maxBytesHeld: configuration.maxBytesHeld, holdsSuspended: configuration.holdsSuspended,
                holdsBarred: configuration.holdsBarred))
        isWaitedFor.withLock { $0 = { [weak self] in self?.isWaitedFor($0, of: $1) ?? true } }
    }

    /// Reads or changes the ledger. The answer is acted on outside of the lock.
    func withLedger<Result>(_ body: (inout WorkerLedger) -> Result) -> Result { ledger.withLock(body) }

    /// Redis did not do what it was asked: the heart is to find out whether it is there, before anything else is tried.
    func redisFailed(_ error: StoreError) {
        heartBeats.withLock { $0 = false }
        // The heart says when Redis is away or not ready; what will not pass by itself would be said by nobody else.
        if !error.isPassing { logger.error("Redis did not do what it was asked", ["detail": .text(error)]) }
        heartSignal.raise()
    }

    /// Blocks after a standstill until Redis was asked what is still this worker's, see ``Lookout``.
    func waitForLook() {
        guard let lease = withLedger({ $0.shortestLease }) else { return }
        lookout.wait(lease: lease) { heartSignal.raise() }
    }

    /// The operations that wait for file system calls that do not return.
    var hanging: FileCalls.Hanging { fileCalls.hanging(.now, filtrations: withLedger { $0.filtrations }) }

    /// The operations whose leases this worker renews: those that it holds without those that hang. `left` is the number of
    /// the latter.
    var renewed: (operations: [HeldOperation], left: Int) {
        let held = withLedger { $0.held }
        let hanging = hanging
        let operations = hanging.isAll ? [] : held.filter { !hanging.operations.contains($0) }
        return (operations, held.count - operations.count)
    }

    // MARK: Photos

    /// Takes an operation that was claimed and begins what there is room for.
    func accept(
        _ claimed: ClaimedOperation, _ context: BatchContext, _ folder: OpenFolder?
    ) throws(StoreError) {
        guard configuration.work == .photos else {
            let operation = OperationInHand(claimed, context, records: [], past: .init(lines: []))
            withLedger { ledger in
                guard ledger.arriving.remove(claimed.held) != nil else { return }
                _ = ledger.accept(operation)
                ledger.skip(claimed.held)
            }
            reportSignal.raise()
            return
        }
        let firstIndex = (claimed.held.number - 1) * context.options.operationSize
        let records = try EntryCoding.records(of: claimed.entry, firstIndex: firstIndex)
        guard records.count == claimed.stateCodes.count else { throw .photosDiffer(claimed, records.count) }
        let past = ManifestFiles.takeOver(claimed, records, context)
        if claimed.leaseExpiries > 0 { Leftovers.remove(of: claimed.held, records, context) }
        let operation = OperationInHand(claimed, context, records: records, past: past, folder: folder)
        // Five workers died of it without bringing a photo of it to its end.
        let isDeadly = claimed.leaseExpiries >= 5
        let dropped = withLedger { ledger -> [PhotoInProgress] in
            // Lost, or handed back, before it was taken up.
            guard ledger.arriving.remove(claimed.held) != nil else { return [] }
            defer { if isDeadly { ledger.settleAll(claimed.held, .failed(.crashed)) } }
            return ledger.accept(operation)
        }
        if operation.isSuspect, !isDeadly {
            logger.warning(
                "workers died on an operation, its photos run one by one", key: claimed.held.batch.description,
                LogMetadata(claimed.held).adding(["deaths": .number(claimed.leaseExpiries)]))
        }
        if isDeadly {
            logger.error(
                "operation reported as crashed, every worker that ran it died", key: claimed.held.batch.description,
                LogMetadata(claimed.held).adding(["deaths": .number(claimed.leaseExpiries)]))
        }
        pending.cancel(dropped)
        advance()
        reportSignal.raise()
    }

    /// Removes what a worker that died may have left of a cancelled batch, in turn; never blocks.
    func clean(_ left: HeldOperation) {
        cleaner.perform { [self] in
            // If Redis cannot be asked, another worker removes it: several are asked.
            guard let batch = try? store.facts(of: left.batch), batch.damage.isEmpty else { return }
            Leftovers.remove(ofCancelled: left, batch, configuration)
        }
    }

    /// Drops operations of which Redis says that they are not this worker's any more.
    func lost(_ lost: [HeldOperation]) {
        let known = withLedger { ledger in
            lost.compactMap { held -> (HeldOperation, isOver: Bool)? in
                if ledger.arriving.contains(held) { return (held, isOver: true) }
                return ledger.operations[held].map { (held, isOver: $0.isDone || $0.isLeaving) }
            }
        }
        for (held, isOver) in known {
            // What has not begun, or ends or is handed back in these moments, is lost in the regular course of things.
            guard !isOver else {
                logger.debug("operation no longer held", LogMetadata(held))
                continue
            }
            logger.warning(
                "lease lost, the operation is not this worker's any more", key: held.batch.description,
                LogMetadata(held).adding(["fence": .number(held.fencingToken)]))
        }
        drop(lost)
        noteEnd(of: Set(known.filter(\.isOver).map(\.0.batch)))
    }

    /// Drops operations that are another's now, or were handed back; or are to be handed back without a report.
    func drop(_ lost: [HeldOperation], handsBack: Bool = false) {
        guard !lost.isEmpty else { return }
        let photos = withLedger { ledger in lost.flatMap { handsBack ? ledger.giveUp($0) : ledger.drop($0) } }
        pending.cancel(photos)
        advance()
        claimSignal.raise()
        reportSignal.raise()
    }

    /// An operation has ended: nothing of it is left to do.
    func ended(_ held: HeldOperation) {
        // Of photos that others cancelled or made final, some may still be stopping.
        let (wasHeld, photos) = withLedger { ledger in (ledger.operations[held] != nil, ledger.drop(held)) }
        pending.cancel(photos)
        claimSignal.raise()
        logger.debug("operation ended", LogMetadata(held))
        if wasHeld { noteEnd(of: [held.batch]) }
    }

    /// Logs each of these batches that has finished and of which this worker holds no operation any more. Reads the batches
    /// from Redis, and logs nothing if that fails.
    func noteEnd(of batches: Set<BatchID>) {
        guard logger.isEnabled(.info) else { return }
        let left = withLedger { ledger in batches.filter { ledger.batches[$0]?.operations.isEmpty != false } }
        guard !left.isEmpty, let facts = try? store.facts(of: left.sorted()) else { return }
        for batch in facts where batch.state == .finished {
            logger.info("batch finished", LogMetadata(batch))
        }
    }

    /// What follows from a change in the ledger.
    private struct Step {
        let isDue: Bool
        let filtrations: [WorkerLedger.QueuedFiltration]
        let downloads: [(photo: PhotoInProgress, urgency: Urgency)]
        let wantsMore: Bool
    }

    /// Changes the ledger and begins what there is room for.
    /// - Parameter change: answers true when the reporter should look.
    private func advance(urgently: Bool = false, _ change: (inout WorkerLedger) -> Bool = { _ in false }) {
        let step = withLedger { ledger in
            let isDue = change(&ledger)
            let neededRoom = ledger.wantsRoom
            let begun = ledger.begin(urgently: urgently)
            let mayWantMore = !begun.isEmpty || ledger.hasStalled
            ledger.hasStalled = false
            return Step(
                isDue: isDue || ledger.wantsRoom && !neededRoom, filtrations: ledger.filtrationsToQueue(),
                downloads: begun.map { ($0, ledger.urgency(of: $0)) }, wantsMore: mayWantMore && ledger.wantsMore)
        }
        for filtration in step.filtrations { pending.filter(filtration, work: filter) }
        for (photo, urgency) in step.downloads {
            guard !photo.isStored, let call = trial(photo, begins: true) else {
                download(photo, urgency)
                continue
            }
            store.send([call]) { [self] _ in download(photo, urgency) }
        }
        if step.isDue { reportSignal.raise() }
        if step.wantsMore { claimSignal.raise() }
    }

    /// What tells Redis that now, or now not any more, a photo of a suspect is where it could end this process: in a transfer, or in
    /// a filter that no helper runs. Who dies meanwhile counts as its victim. Nil where that does not matter.
    ///
    /// It goes on whatever the answer is: while Redis is away no lease expires, and the heart hears of the rest.
    private func trial(_ photo: PhotoInProgress, begins: Bool) -> ScriptCall<ReportReply>? {
        withLedger { $0.stateCodes(of: photo, begins: begins) }.map { stateCodes in
            store.report(photo.operation, worker: id, stateCodes: stateCodes, bytesIn: 0, bytesOut: 0)
        }
    }

    private func download(_ photo: PhotoInProgress, _ urgency: Urgency) {
        pending.download(
            photo, urgency, mayBegin: mayDownload,
            // Another may begin in its place.
            waits: { [self] photo in advance { $0.waits(photo) } },
            ended: downloaded)
    }

    private func mayDownload(_ photo: PhotoInProgress) -> Bool {
        let permission = withLedger { $0.mayDownload(photo) }
        if permission == .yes { observe(.downloadBegan, photo) }
        return permission != .no
    }

    private func downloaded(_ photo: PhotoInProgress, _ result: Result<Download, TransferError>) {
        switch result {
        case .success(let image):
            observe(.downloadEnded, photo)
            events.note(photo, .downloaded)  // before anything can make it filtered
            if !photo.isStored, let call = trial(photo, begins: false) { store.send([call]) { _ in } }
            var isWanted = true
            advance { ledger in
                isWanted = ledger.downloaded(photo, bytes: image.body.count)
                return isWanted ? false : ledger.downloadEnded(photo, nil)
            }
            if !isWanted { _ = pending.takeImage(of: photo) }
        case .failure(let error):
            observe(.downloadEnded, photo)
            let outcome = FailureReason(error).map { reason in
                var outcome = PhotoDevelopment.failure(photo, reason, error.detail)
                outcome.line.attempts = error.attempts
                return outcome
            }
            if let outcome { note(outcome, of: photo) }
            advance { $0.downloadEnded(photo, outcome) }
        }
    }

    private func filter(_ queued: WorkerLedger.QueuedFiltration) {
        let (photo, ticket) = (queued.photo, queued.ticket)
        guard withLedger({ $0.mayFilter(photo, ticket) }) else { return advance() }
        // Stopped since then, its bytes were thrown away.
        guard let image = pending.takeImage(of: photo) else {
            return advance { $0.filtrationEnded(photo, ticket, nil) }
        }
        observe(.filtrationBegan, photo)
        let helpers = isForHelper(photo, image) ? helpers : nil
        if helpers == nil, let call = trial(photo, begins: true) { _ = store.results(of: [call]) }
        let temporaryName = Leftovers.temporaryName(
            for: String(photo.record.index), fencingToken: photo.operation.fencingToken, worker: "\(id).\(ticket)")
        let outcome = filtrationThreads.run { [self] in
            PhotoDevelopment.develop(
                photo, image, helpers: helpers, fileCalls: fileCalls, temporaryName: temporaryName,
                isWanted: {
                    waitForLook()
                    return withLedger { $0.mayPlace(photo, ticket) }
                },
                isWaitedFor: { isWaitedFor($0, of: photo.context) })
        }
        observe(.filtrationEnded, photo)
        if let outcome { note(outcome, of: photo) }
        advance { $0.filtrationEnded(photo, ticket, outcome) }
    }

    /// Whether a photo is developed in a helper process, if this worker has helpers. This includes photos whose library
    /// cannot be stopped. Operations of one's own run in this process by default: their author is trusted.
    private func isForHelper(_ photo: PhotoInProgress, _ image: Download) -> Bool {
        photo.isSuspect || configuration.isolatesEveryPhoto
            || photo.context.ownOperation == nil && !Imaging.canAlwaysStop(image.body, photo.context.develop)
    }

    /// Tells how a photo ended.
    private func note(_ outcome: PhotoOutcome, of photo: PhotoInProgress) {
        events.note(photo, outcome.state)
        guard case .failed(let reason) = outcome.state else { return }
        // However many fail for one reason, and whatever their URLs are, it is one line a second.
        logger.warning(
            "photo failed", key: "\(photo.operation.batch) \(reason.word)",
            LogMetadata(photo, reason, outcome.line))
    }

    private func observe(_ kind: PhotoMoment.Kind, _ photo: PhotoInProgress) {
        guard let observer = configuration.observer else { return }
        observer(PhotoMoment(kind, photo))
    }

    // MARK: Steering

    /// Takes a hint as it comes; called on the subscription's thread, so that nothing delays what it stops.
    func heard(_ hint: Hint) { act(on: withLedger { $0.heard(hint) }) }

    /// Takes what an answer of Redis told.
    func steer<Ignored>(_ tell: (inout WorkerSteering) -> Ignored) { act(on: withLedger { $0.steer(tell) }) }

    /// An answer said that a batch is cancelled.
    func cancelled(_ batch: BatchID) { act(on: withLedger { $0.cancelled(batch) }) }

    /// Takes letters of an operation as Redis has them.
    func adopt(_ stateCodes: [UInt8], of held: HeldOperation) { act(on: withLedger { $0.adopt(stateCodes, of: held) }) }

    /// Does what follows from a change in the ledger.
    func act(on orders: WorkerLedger.Orders) {
        pending.cancel(orders.stopped)
        for photo in orders.withdrawn { pending.withdraw(photo) }
        for photo in orders.reordered { pending.reorder(photo, withLedger { $0.urgency(of: photo) }) }
        if orders.limitsChanged {
            // One after the other, so that the last one sets what holds.
            limits.withLock { _ in
                let (downloads, filtrations) = withLedger { ($0.downloads, $0.filtrations) }
                engine.setMaxRunning(downloads)
                pending.setFiltrations(filtrations)
            }
        }
        if orders.needsBeat { heartSignal.raise() }
        guard orders.isNews else { return }
        advance(urgently: true)
        reportSignal.raise()
        claimSignal.raise()
    }

    // MARK: Stopping

    /// Nothing begins any more; what runs goes on.
    func stop() {
        for photo in withLedger({ $0.stop() }) { pending.withdraw(photo) }
        claimSignal.raise()
        reportSignal.raise()
    }

    /// Stops what still runs: transfers are aborted, filters stop at their next check.
    func abort() {
        pending.cancel(withLedger { $0.abort() })
        reportSignal.raise()
    }

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
                + "\(claimed.stateCodes.count) were fed")
    }
}
