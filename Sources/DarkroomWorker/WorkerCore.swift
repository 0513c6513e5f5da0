import DarkroomConcurrency
import DarkroomImaging
import DarkroomModel
import DarkroomStore
import DarkroomTransfer
import Foundation

/// What the threads of a worker share: the ledger behind its lock, the local queues, and the signals between them.
final class WorkerCore: Sendable {
    let id: String
    let store: BatchStore
    let configuration: WorkerConfiguration
    let log: @Sendable (String) -> Void
    /// Raised when there may be room or work to claim.
    let claimSignal = Signal()
    /// Raised when there may be something to report or to hand back.
    let reportSignal = Signal()
    /// Raised when a heartbeat is to be sent at once.
    let heartSignal = Signal()
    /// Set when the worker is to leave without finishing anything.
    let leaving = Latch()
    /// Set when nothing more is claimed, whatever Redis answers.
    let claimsEnd = Latch()
    /// Whether the last heartbeat arrived: after Redis was away, renewing comes first, then reports, then claims.
    let heartBeats = Locked(false)
    let rate = Rate()
    let events: PhotoEvents
    let webhooks: WebhookDelivery
    private let ledger: Locked<WorkerLedger>
    private let pending: PendingOperations
    private let engine: TransferEngine
    private let filtrationThreads: FiltrationThreads

    init(
        id: String, store: BatchStore, configuration: WorkerConfiguration, log: @escaping @Sendable (String) -> Void
    ) {
        self.id = id
        self.store = store
        self.configuration = configuration
        self.log = log
        engine = TransferEngine(configuration.transfer)
        events = PhotoEvents(worker: id, channel: store.keys.eventsChannel, connection: store.connection)
        webhooks = WebhookDelivery(store, configuration, log: log)
        filtrationThreads = FiltrationThreads(priority: configuration.threadPriority, log: log)
        pending = PendingOperations(configuration, engine: engine, originals: Originals(worker: id))
        ledger = Locked(
            WorkerLedger(
                downloads: configuration.downloads, filtrations: configuration.filtrations,
                maxBytesHeld: configuration.maxBytesHeld))
    }

    /// Reads or changes the ledger. The answer is acted on outside of the lock.
    func withLedger<Result>(_ body: (inout WorkerLedger) -> Result) -> Result { ledger.withLock(body) }

    /// Redis did not do what it was asked: the heart is to find out whether it is there, before anything else is tried.
    func redisFailed(_ error: StoreError) {
        heartBeats.withLock { $0 = false }
        // The heart says when Redis is away; an answer that is an error would be said by nobody else.
        if error.redis?.code == .server || error.redis == nil { log("\(error)") }
        heartSignal.raise()
    }

    /// How many photos download and how many are filtered now.
    var running: (downloads: Int, filtrations: Int) {
        (pending.downloadsInProgress, pending.filtrationsInProgress)
    }

    // MARK: Photos

    /// Takes an operation that was claimed and begins what there is room for.
    func accept(_ claimed: ClaimedOperation, _ context: BatchContext) throws(StoreError) {
        guard configuration.work == .photos else {
            let operation = OperationInHand(claimed, context, records: [], lines: [])
            withLedger {
                _ = $0.accept(operation)
                $0.skip(claimed.held)
            }
            reportSignal.raise()
            return
        }
        let firstIndex = (claimed.held.number - 1) * context.options.operationSize
        let records = try EntryCoding.records(of: claimed.entry, firstIndex: firstIndex)
        guard records.count == claimed.letters.count else { throw .photosDiffer(claimed, records.count) }
        let lines = ManifestFiles.takeOver(claimed, records, context)
        if claimed.deaths > 0 { Leftovers.remove(of: claimed.held, records, context) }
        let operation = OperationInHand(claimed, context, records: records, lines: lines)
        let dropped = withLedger { ledger in
            defer {
                // Five workers died of it without bringing a photo of it to its end.
                if claimed.deaths >= 5 { ledger.settleAll(claimed.held, .failed(.crashed)) }
            }
            return ledger.accept(operation)
        }
        for photo in dropped { pending.cancel(photo) }
        beginPhotos()
        reportSignal.raise()
    }

    /// Begins as many photos as there is room for.
    func beginPhotos() {
        for photo in withLedger({ $0.begin() }) {
            pending.start(photo, downloaded: downloaded, filter: filter)
        }
    }

    /// Drops operations that are another's now.
    func drop(_ lost: [HeldOperation]) {
        guard !lost.isEmpty else { return }
        let photos = withLedger { ledger in lost.flatMap { ledger.drop($0) } }
        for photo in photos { pending.cancel(photo) }
        claimSignal.raise()
        reportSignal.raise()
    }

    private func downloaded(_ photo: PhotoInProgress, _ result: Result<Download, TransferError>) {
        switch result {
        case .success(let image):
            withLedger { $0.downloaded(photo, bytes: image.body.count) }
            events.note(photo, .downloaded)
        case .failure(let error):
            ended(
                photo,
                FailureReason(error).map { reason in
                    var outcome = PhotoDevelopment.failure(photo, reason, error.detail)
                    outcome.line.attempts = error.attempts
                    return outcome
                })
        }
    }

    private func filter(_ photo: PhotoInProgress, _ image: Download) {
        let temporaryName = Leftovers.temporaryName(
            for: String(photo.record.index), fence: photo.operation.fence, worker: id)
        let outcome = filtrationThreads.run { [self] in
            PhotoDevelopment.develop(photo, image, temporaryName: temporaryName) {
                !photo.cancelled.isSet && withLedger { $0.isWanted(photo) }
            }
        }
        withLedger { $0.released(bytes: image.body.count) }
        ended(photo, outcome)
    }

    private func ended(_ photo: PhotoInProgress, _ outcome: PhotoOutcome?) {
        let (isDue, wantsMore) = withLedger { ledger in
            (ledger.ended(photo, outcome), ledger.photosWanted > 0)
        }
        if let outcome { events.note(photo, outcome.state) }
        if isDue || photo.cancelled.isSet { reportSignal.raise() }
        if wantsMore { claimSignal.raise() }
        beginPhotos()
    }

    // MARK: Stopping

    /// Nothing begins any more; what runs goes on.
    func stop() {
        withLedger { $0.stop() }
        claimSignal.raise()
        reportSignal.raise()
    }

    /// Stops what still runs: transfers are aborted, filters stop at their next check.
    func abort() {
        for photo in withLedger({ $0.abort() }) { pending.cancel(photo) }
        reportSignal.raise()
    }

    /// Ends the thread of the transfers.
    func shutDownTransfers() { engine.shutdown() }
}

extension StoreError {
    static func photosDiffer(_ claimed: ClaimedOperation, _ count: Int) -> StoreError {
        StoreError(
            .damagedEntry,
            "operation \(claimed.held.number) of \(claimed.held.batch): its entry has \(count) photos, "
                + "\(claimed.letters.count) were fed")
    }
}
