import DarkroomModel
import Testing

@testable import DarkroomStore
@testable import DarkroomWorkerState

/// The state of a worker on its own: each method is an event that a worker's threads would report, or a question that they
/// would ask. No server, no threads, no clock.
struct StateBench {
    typealias Photo = PhotoTask
    typealias Effects = [WorkerState.Effect]

    /// The resources of operations, which the state never looks at.
    private final class Resources: OperationResources {}

    struct Fault: StorageFault {
        var detail: String
        var isOfDevice: Bool
        var bytes = 1000
    }

    static let maxWaiting = WorkerState.maxWaiting
    static let maxStalled = WorkerState.maxStalled

    private var state: WorkerState
    private var version = 0
    private var fencingToken = 0
    private let resources = Resources()

    init(downloads: Int = 4, filtrations: Int = 2, maxBytesHeld: Int = 1 << 30) {
        state = WorkerState(.init(downloads: downloads, filtrations: filtrations, maxBytesHeld: maxBytesHeld))
        handle(.answered(ControlsAnswer(version: 0, sent: 0, completeVersion: 0)))
    }

    /// Handles an event, and cancels photos as a worker would.
    @discardableResult
    mutating func handle(_ event: WorkerState.Event) -> Effects {
        let effects = state.handle(event)
        for task in effects.cancelled { task.cancellation.cancel() }
        return effects
    }

    // MARK: Redis

    /// Claims an operation, of 10 photos by default, and takes it up. Without a priority the controls of its batch stay as they are.
    @discardableResult
    mutating func claim(
        _ batch: BatchID, _ number: Int = 1, photos: Int = 10, priority: BatchPriority? = nil,
        stateCodes: String? = nil,
        leaseExpiries: Int = 0
    ) -> HeldOperation {
        var options = BatchOptions()
        options.operationSize = 10
        fencingToken += 1
        let held = HeldOperation(batch: batch, number: number, fencingToken: fencingToken)
        if let priority {
            var steering = BatchControls()
            steering.priority = priority
            answered(version: version, sent: version, [batch: steering])
        }
        let claimed = ClaimedOperation(
            held: held, stateCodes: Array((stateCodes ?? String(repeating: "N", count: photos)).utf8),
            leaseExpiries: leaseExpiries,
            entry: [])
        let first = (number - 1) * 10
        let records = (0..<claimed.stateCodes.count).map {
            PhotoRecord(index: first + $0, name: "\(first + $0)", url: "http://example.com/\(first + $0)")
        }
        self.claimed(held)
        let lines = [[UInt8]?](repeating: nil, count: records.count)
        handle(.prepared(LocalOperation(claimed, options, records: records, lines: lines, resources)))
        return held
    }

    /// A claim has brought an operation, which is not taken up yet.
    mutating func claimed(_ held: HeldOperation) { handle(.claimed([held])) }

    /// An operation that was claimed is not to run here.
    mutating func declined(_ held: HeldOperation) { handle(.declined(held)) }

    /// The operation is no longer this worker's.
    /// - Returns: the photos that are cancelled.
    @discardableResult
    mutating func lost(_ held: HeldOperation) -> [Photo] { handle(.lost([held])).cancelled }

    /// Redis sends final state codes of an operation's photos.
    @discardableResult
    mutating func merge(_ codes: [UInt8], of held: HeldOperation) -> Effects {
        handle(.stateCodes(codes, of: held))
    }

    /// Redis answers with the controls of some batches.
    @discardableResult
    mutating func answered(version: Int, sent: Int, _ batches: [BatchID: BatchControls]) -> Effects {
        handle(.answered(ControlsAnswer(version: version, sent: sent, batches: batches)))
    }

    /// A change of a batch that is published.
    @discardableResult
    mutating func steer(_ batch: BatchID, _ change: (inout BatchControls) -> Void) -> Effects {
        version += 1
        var steering = controls(of: batch)
        change(&steering)
        return handle(.noticed(.batch(batch, steering, version: version)))
    }

    /// A change of the cluster that is published.
    @discardableResult
    mutating func steerCluster(_ change: (inout ClusterControls) -> Void) -> Effects {
        version += 1
        var steering = state.controls.cluster
        change(&steering)
        return handle(.noticed(.cluster(steering, version: version)))
    }

    // MARK: Storage

    /// The output of a batch cannot be written; with a device neither can those of `others`.
    @discardableResult
    mutating func block(
        _ batch: BatchID, isAway: Bool = false, device: UInt? = nil, and others: [BatchID] = []
    ) -> Effects {
        let fault = Fault(detail: "no room for \(batch)", isOfDevice: !isAway)
        return handle(
            .storageFault(StorageReport(batch, fault, device: device, others: device == nil ? [] : Set(others))))
    }

    /// A batch that is being prepared writes to a device. Returns why it cannot; nil when it can.
    mutating func storageBlocked(_ batch: BatchID, onDevice device: UInt) -> String? {
        for case .outputBlocked(let reason) in handle(.outputOpened(batch, device: device)) { return reason }
        return nil
    }

    /// Something else keeps files from being written now.
    mutating func storageChanged(_ number: Int, to fault: Fault) -> Effects { handle(.storageChanged(number, fault)) }

    /// The outages that are to be checked.
    @discardableResult
    mutating func storageChecksDue(now: ContinuousClock.Instant) -> [StorageOutage] {
        handle(.storageChecksDue(now: now)).compactMap {
            if case .checkStorage(let outage) = $0 { outage } else { nil }
        }
    }

    /// All outputs can be written again.
    mutating func unblock() {
        for outage in state.outages.all { handle(.storageRecovered(outage.number)) }
    }

    /// The files of an operation may be lost.
    /// - Returns: the photos that are cancelled.
    mutating func filesLost(_ held: HeldOperation) -> [Photo] { handle(.filesLost([held])).cancelled }

    var outages: [StorageOutage] { state.outages.all }
    var blockedBatches: [BatchID: String] { state.blockedBatches }

    // MARK: Local queues

    /// Photos are to begin where there is room.
    /// - Parameter urgently: also one by one while the filters have enough to do.
    mutating func beginDownloads(urgently: Bool = false) -> [Photo] { state.beginDownloads(urgently: urgently) }

    /// Asks whether a download, or another attempt of it, may begin.
    mutating func downloadBegins(_ photo: Photo) -> Permission {
        for case .proceed(let isFirst) in handle(.downloadBegins(photo)) { return isFirst ? .yes : .again }
        return .no
    }

    enum Permission { case no, yes, again }

    mutating func downloadWaits(_ photo: Photo) { handle(.downloadWaits(photo)) }

    /// The bytes of a photo are here. Returns false when nobody wants them.
    mutating func downloaded(_ photo: Photo, bytes: Int) -> Bool {
        handle(.downloaded(photo, bytes: bytes)).cancelled.isEmpty
    }

    mutating func downloadEnded(_ photo: Photo, _ outcome: PhotoOutcome?) {
        handle(.downloadEnded(photo, outcome))
    }

    /// Filters are to be put into the local queue.
    mutating func queueFilters() -> [FilterJob] { state.queueFilters() }

    /// Asks whether a filter may begin.
    mutating func filterBegins(_ job: FilterJob) -> Bool { handle(.filterBegins(job)).mayProceed }

    /// Asks whether a result may get its final name.
    mutating func placing(_ job: FilterJob) -> Bool { handle(.placing(job)).mayProceed }

    mutating func filterEnded(_ job: FilterJob, _ outcome: PhotoOutcome?) {
        handle(.filterEnded(job, outcome))
    }

    /// The worker stops. Returns the downloads that are withdrawn.
    mutating func stop() -> [Photo] { handle(.stopping).withdrawn }

    // MARK: Local queues, in larger steps

    /// Begins what may begin, and its transfers.
    mutating func begin(urgently: Bool = true) -> [Photo] {
        let photos = beginDownloads(urgently: urgently)
        for photo in photos { _ = downloadBegins(photo) }
        return photos
    }

    /// The download of a photo is through.
    mutating func download(_ photo: Photo, bytes: Int = 1000) {
        let isWanted = downloaded(photo, bytes: bytes)
        #expect(isWanted)
    }

    /// Filters all that the local queue is given, until nothing is left.
    @discardableResult
    mutating func filterAll() -> [Photo] {
        var filtered: [Photo] = []
        while true {
            let queued = queueFilters()
            guard !queued.isEmpty else { return filtered }
            for job in queued {
                filtered.append(job.task)
                filter(job)
            }
        }
    }

    /// Filters one photo to its end.
    mutating func filter(_ job: FilterJob) {
        let begins = filterBegins(job)
        #expect(begins)
        let isPlaced = placing(job)
        #expect(isPlaced)
        filterEnded(job, Self.outcome(job.task))
    }

    /// Downloads and filters until nothing of the local operations is left to begin.
    /// - Returns: the photos in the order in which they were filtered.
    mutating func runAll() -> [Photo] {
        var filtered: [Photo] = []
        while true {
            let photos = begin()
            guard !photos.isEmpty else { return filtered }
            for photo in photos { download(photo) }
            filtered += filterAll()
        }
    }

    static func outcome(_ photo: Photo) -> PhotoOutcome {
        PhotoOutcome(
            state: .filtered, line: ManifestLine(batch: photo.operation.batch, record: photo.record, state: .filtered),
            bytesIn: 1, bytesOut: 1)
    }

    // MARK: Reports and releases

    mutating func reportsDue(now: ContinuousClock.Instant, olderThan age: Duration) -> [WorkerState.Report] {
        handle(.reportsDue(now: now, olderThan: age)).compactMap {
            if case .report(let report) = $0 { report } else { nil }
        }
    }

    mutating func reported(_ report: WorkerState.Report, now: ContinuousClock.Instant) {
        handle(.reported(report, now: now))
    }

    /// The operations to release.
    mutating func releasesDue(now: ContinuousClock.Instant) -> [HeldOperation] {
        handle(.releasesDue(now: now)).compactMap { if case .release(let release) = $0 { release.held } else { nil } }
    }

    // MARK: Questions

    /// Everything whose lease is renewed.
    var held: [HeldOperation] { state.held }
    /// Operations that are taken up, in the order of their claims.
    var localOperations: [HeldOperation] { state.localOperations.map(\.held) }
    var batchCount: Int { state.batches.count }
    var taskCount: Int { state.activity.photos }
    var abandonedFilters: Int { state.photos.abandonedCount }
    var bytesHeld: Int { state.activity.bytesHeld }
    var photosHeld: Int { state.photos.photosHeld }
    var photosWanted: Int { state.photosWanted(from: .veryLow) }
    var demand: ClaimDemand { state.demand }
    var excluded: [BatchID] { state.excludedFromClaims(isForDrained: false) }
    var transfers: Int { state.activity.downloading }
    var window: Int { state.window }
    var reserve: Int { state.reserve }
    var needsRoom: Bool { state.needsRoom }
    var limits: (downloads: Int, filtrations: Int) { state.limits }
    /// Photos whose download waits for its host or for another attempt.
    var waiting: Int { state.queues.total(\.waiting) }

    func waiting(of batch: BatchID) -> Int? { state.batches[batch]?.waiting }
    func downloading(from priority: BatchPriority) -> Int { state.queues[priority.rank].downloads }
    func controls(of batch: BatchID) -> BatchControls { state.controls.controls(of: batch) }
    func urgency(of photo: Photo) -> Urgency { state.urgency(of: photo) }
    func unfinished(_ held: HeldOperation) -> Int? { state.operations[held]?.unfinished }
    func isUnreported(_ held: HeldOperation) -> Bool? { state.operations[held]?.isUnreported }
    func crashProbe(of photo: Photo, begins: Bool) -> [UInt8]? { state.crashProbe(of: photo, begins: begins) }

    func stateCodes(_ held: HeldOperation) -> String {
        String(decoding: state.operations[held]?.stateCodes ?? [], as: UTF8.self)
    }

    /// Makes the state expect so many bytes of each download.
    mutating func expectDownloads(of bytes: Int) { state.photos.typicalBytes = bytes }

    /// Fails if the parts of the state contradict each other.
    func check(_ location: SourceLocation = #_sourceLocation) {
        let wrong = state.inconsistencies()
        #expect(wrong.isEmpty, "\(wrong)", sourceLocation: location)
    }
}

extension [WorkerState.Effect] {
    var cancelled: [PhotoTask] { compactMap { if case .cancel(let task) = $0 { task } else { nil } } }
    var withdrawn: [PhotoTask] { compactMap { if case .withdraw(let task) = $0 { task } else { nil } } }
    var reordered: [PhotoTask] { compactMap { if case .reorder(let task) = $0 { task } else { nil } } }
    var changesLimits: Bool { contains { if case .applyLimits = $0 { true } else { false } } }
    var mayProceed: Bool { contains { if case .proceed = $0 { true } else { false } } }
    /// Whether something may begin or must be reported that did not have to before.
    var isNews: Bool { contains { if case .schedule = $0 { true } else { false } } }
    var beginsOutage: Bool { contains { if case .outageBegan = $0 { true } else { false } } }
}
