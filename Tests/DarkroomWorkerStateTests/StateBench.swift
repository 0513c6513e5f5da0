import DarkroomHosts
import DarkroomModel
import Testing

@testable import DarkroomWorkerState

/// A worker state without a server, threads or a clock. Each method sends the state an event or a query, as a thread of
/// a worker would.
struct StateBench {
    typealias Photo = PhotoTask
    typealias Effects = [WorkerState.Effect]

    static let maxWaiting = WorkerState.maxWaiting
    static let maxStalled = WorkerState.maxStalled

    private var state: WorkerState
    private var version = 0
    private var fencingToken = 0
    /// Whether effects begin downloads and queue filters, as in a worker. If false, the test begins and queues them.
    var schedules = false
    /// The downloads and filters that effects have started and that the test has not taken yet.
    var begun: [Photo] = []
    var queued: [FilterJob] = []
    /// Becomes true when an effect wakes the thread that reports and releases; the test sets it to false.
    var areReportsWoken = false
    /// Becomes true when an effect says that there may be room for bodies that wait; the test sets it to false.
    var mayResume = false
    /// The bytes that photos have asked for.
    private var wanted: [ObjectIdentifier: Int] = [:]
    /// The photos that may not keep these bytes, oldest first.
    private var refused: [Photo] = []
    /// The operations that were prepared and not dropped, as a worker remembers them.
    private(set) var remembered: Set<HeldOperation> = []

    init(downloads: Int = 4, filtrations: Int = 2, maxBytesHeld: Int = 1 << 30) {
        state = WorkerState(.init(downloads: downloads, filtrations: filtrations, maxBytesHeld: maxBytesHeld))
        handle(.answered([ControlsAnswer(version: 0, sent: 0, completeVersion: 0)]))
    }

    /// Handles an event, and cancels photos as a worker does.
    @discardableResult
    mutating func handle(_ event: WorkerState.Event) -> Effects {
        if case .prepared(let operation) = event { remembered.insert(operation.held) }
        let effects = state.handle(event)
        for case .dropped(let held) in effects { remembered.remove(held) }
        for task in effects.cancelled { task.cancellation.cancel() }
        guard schedules else { return effects }
        for effect in effects {
            switch effect {
            case .schedule(let urgently): handle(.schedule(urgently: urgently))
            case .download(let photo, _): begun.append(photo)
            case .filter(let job): queued.append(job)
            case .wakeReports: areReportsWoken = true
            case .resumeDownloads: mayResume = true
            default: break
            }
        }
        return effects
    }

    // MARK: Redis

    /// Claims and starts an operation, by default of 10 photos. If `priority` is nil, the controls of the batch do not
    /// change.
    @discardableResult
    mutating func claim(
        _ batch: BatchID, _ number: Int = 1, photos: Int = 10, priority: BatchPriority? = nil,
        stateCodes: String? = nil, leaseExpiries: Int = 0, retries: String = "", domains: Set<StorageDomain> = []
    ) -> HeldOperation {
        var options = BatchOptions()
        options.operationSize = 10
        fencingToken += 1
        let held = HeldOperation(batch: batch, number: number, fencingToken: fencingToken)
        if let priority {
            var controls = BatchControls()
            controls.priority = priority
            answered(version: version, sent: version, [batch: controls])
        }
        let claimed = ClaimedOperation(
            held: held, stateCodes: Array((stateCodes ?? String(repeating: "N", count: photos)).utf8),
            leaseExpiries: leaseExpiries, entry: [], retries: retries)
        let first = (number - 1) * 10
        let records = (0..<claimed.stateCodes.count).map {
            PhotoRecord(index: first + $0, name: "\(first + $0)", url: "http://example.com/\(first + $0)")
        }
        self.claimed(held)
        let lines = [[UInt8]?](repeating: nil, count: records.count)
        handle(.prepared(LocalOperation(claimed, options, records: records, lines: lines, domains: domains)))
        return held
    }

    /// A claim has returned an operation that has not started yet.
    mutating func claimed(_ held: HeldOperation) { handle(.claimed([held])) }

    /// This worker cannot run a claimed operation.
    mutating func declined(_ held: HeldOperation) { handle(.declined(held)) }

    /// An operation has ended.
    mutating func ended(_ held: HeldOperation) { handle(.ended(held)) }

    /// A reply of Redis: the batch is cancelled.
    mutating func batchCancelled(_ batch: BatchID) { handle(.batchCancelled(batch)) }

    /// The operation no longer belongs to this worker.
    /// - Returns: the cancelled photos.
    @discardableResult
    mutating func lost(_ held: HeldOperation) -> [Photo] { handle(.lost([held])).cancelled }

    /// Redis has sent final state codes of an operation's photos.
    @discardableResult
    mutating func merge(_ codes: [UInt8], of held: HeldOperation) -> Effects {
        handle(.stateCodes(codes, of: held))
    }

    /// A reply of Redis contains the controls of some batches.
    @discardableResult
    mutating func answered(version: Int, sent: Int, _ batches: [BatchID: BatchControls]) -> Effects {
        handle(.answered([ControlsAnswer(version: version, sent: sent, batches: batches)]))
    }

    /// A change notice for a batch.
    @discardableResult
    mutating func control(_ batch: BatchID, _ change: (inout BatchControls) -> Void) -> Effects {
        version += 1
        var controls = state.controls.controls(of: batch)
        change(&controls)
        return handle(.noticed(.batch(batch, controls, version: version)))
    }

    /// A change notice for the cluster.
    @discardableResult
    mutating func controlCluster(_ change: (inout ClusterControls) -> Void) -> Effects {
        version += 1
        var controls = state.controls.cluster
        change(&controls)
        return handle(.noticed(.cluster(controls, version: version)))
    }

    /// Another worker is idle.
    @discardableResult
    mutating func idleWorker(of workers: Int = 2) -> Effects { handle(.noticed(.idle(.init(workers: workers)))) }

    // MARK: Storage

    /// The output of a batch cannot be written. If `domain` is given, no output in it can be written.
    @discardableResult
    mutating func block(_ batch: BatchID, domain: StorageDomain? = nil) -> Effects {
        handle(.storageFault(batch, Refusal(.diskFull, "no room for \(batch)"), domain: domain))
    }

    /// A worker has opened the output of a batch in a domain. Returns the storage fault of the domain, or nil.
    mutating func storageBlocked(_ batch: BatchID, in domain: StorageDomain) -> String? {
        for case .outputBlocked(let refusal) in handle(.outputOpened(batch, [domain])) { return refusal.reason }
        return nil
    }

    /// The outage with this number now has another storage fault as its cause.
    mutating func storageChanged(_ number: Int, to detail: String, domain: StorageDomain? = nil) -> Effects {
        handle(.storageChanged(number, Refusal(.other, detail), domain: domain))
    }

    /// The outages whose next check is due.
    @discardableResult
    mutating func storageChecksDue(now: ContinuousClock.Instant) -> [StorageOutage] {
        handle(.storageChecksDue(now: now)).compactMap {
            if case .checkStorage(let outage) = $0 { outage } else { nil }
        }
    }

    /// Ends all outages.
    mutating func unblock() {
        for outage in state.outages.all { handle(.storageRecovered(outage.number)) }
    }

    /// The files of an operation may be lost.
    /// - Returns: the cancelled photos.
    mutating func filesLost(_ held: HeldOperation) -> [Photo] { handle(.filesLost([held])).cancelled }

    var outages: [StorageOutage] { state.outages.all }
    var blockedBatches: [BatchID: String] { state.blockedBatches.mapValues(\.reason) }

    // MARK: Local queues

    /// Starts photos until no more downloads may begin.
    /// - Parameter urgently: Starts single photos even while the filters have enough downloaded photos.
    mutating func beginDownloads(urgently: Bool = false) -> [Photo] { state.beginDownloads(urgently: urgently) }

    /// Whether a download, or a retry of it, may start.
    mutating func downloadBegins(_ photo: Photo) -> Permission {
        for case .proceed(let isFirst) in handle(.downloadBegins(photo)) { return isFirst ? .yes : .again }
        return .no
    }

    enum Permission { case no, yes, again }

    /// - Parameter wait: the shortest time for which the photo waits; nil if it is not known.
    mutating func downloadWaits(_ photo: Photo, isIdle: Bool = false, for wait: Duration? = nil) {
        var history = RetryHistory()
        history.attempts = photo.history.attempts + 1
        handle(.downloadWaits(photo, isIdle: isIdle, until: wait.map { .now + $0 }, history))
    }

    /// The first byte of a photo has arrived, or it needs more memory. Returns whether it may keep `bytes`.
    mutating func downloadCarries(_ photo: Photo, bytes: Int = 1000) -> Bool {
        wanted[ObjectIdentifier(photo)] = bytes
        let mayProceed = handle(.downloadCarries(photo, bytes: bytes)).mayProceed
        if mayProceed {
            refused.removeAll { $0 === photo }
        } else if !refused.contains(where: { $0 === photo }) {
            refused.append(photo)
        }
        return mayProceed
    }

    /// A photo is downloaded. Returns false if the downloaded bytes are no longer needed.
    mutating func downloaded(_ photo: Photo, bytes: Int) -> Bool {
        handle(.downloaded(photo, bytes: bytes))
        return state.photos.entry(of: photo) != nil
    }

    mutating func downloadEnded(_ photo: Photo, _ outcome: PhotoOutcome?) {
        handle(.downloadEnded(photo, outcome))
    }

    /// Returns the filters that enter the local queue.
    mutating func queueFilters() -> [FilterJob] { state.queueFilters() }

    /// Whether a filter may start.
    mutating func filterBegins(_ job: FilterJob) -> Bool { handle(.filterBegins(job)).mayProceed }

    /// Whether the file of a result may get its final name.
    mutating func placing(_ job: FilterJob) -> Bool { handle(.placing(job)).mayProceed }

    mutating func filterEnded(_ job: FilterJob, _ outcome: PhotoOutcome?) {
        handle(.filterEnded(job, outcome))
    }

    /// The worker stops. Returns the withdrawn downloads.
    mutating func stop() -> [Photo] { handle(.stopping).withdrawn }

    // MARK: Local queues, in larger steps

    /// Starts all photos that may start, and their transfers.
    mutating func begin(urgently: Bool = true) -> [Photo] {
        let photos = beginDownloads(urgently: urgently)
        for photo in photos where downloadBegins(photo) != .no { _ = downloadCarries(photo) }
        return photos
    }

    /// The download of a photo has ended.
    mutating func download(_ photo: Photo, bytes: Int = 1000) {
        let isWanted = downloaded(photo, bytes: bytes)
        #expect(isWanted)
    }

    /// Runs the filters of the local queue until it stays empty.
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

    /// Runs a filter and records its outcome.
    mutating func filter(_ job: FilterJob) {
        let begins = filterBegins(job)
        #expect(begins)
        let isPlaced = placing(job)
        #expect(isPlaced)
        filterEnded(job, Self.outcome(job.task))
    }

    /// Downloads and filters photos of the local operations until no photo may start.
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

    static func failure(_ photo: Photo) -> PhotoOutcome {
        let state = PhotoState.failed(.timeout)
        return PhotoOutcome(
            state: state, line: ManifestLine(batch: photo.operation.batch, record: photo.record, state: state))
    }

    // MARK: Reports and releases

    func reportsDue(now: ContinuousClock.Instant, olderThan age: Duration) -> [WorkerState.Report] {
        state.reports(now, olderThan: age)
    }

    mutating func reported(_ report: WorkerState.Report, now: ContinuousClock.Instant) {
        handle(.reported(report, now: now))
    }

    /// The operations to release.
    mutating func releasesDue(now: ContinuousClock.Instant) -> [HeldOperation] {
        releases(now: now).map(\.held)
    }

    mutating func releases(now: ContinuousClock.Instant) -> [WorkerState.Release] {
        handle(.releasesDue(now: now)).compactMap { if case .release(let release) = $0 { release } else { nil } }
    }

    // MARK: Queries

    /// The operations whose leases the worker renews.
    var held: [HeldOperation] { state.held }
    /// Whether a photo of an operation has sent a request, or is downloaded.
    func isBusy(_ held: HeldOperation) -> Bool {
        state.photos.all.contains { $0.task.operation == held && $0.stage != .queued && $0.stage != .waiting }
    }
    /// The started operations, in the order of their claims.
    var localOperations: [HeldOperation] { state.leases.local }
    var batchCount: Int { state.batches.count }
    var taskCount: Int { state.activity.photos }
    var abandonedFilters: Int { state.photos.abandonedCount }
    var bytesHeld: Int { state.activity.bytesHeld }
    var photosHeld: Int { state.photos.photosHeld }
    func wantedBytes(of photo: Photo) -> Int { wanted[ObjectIdentifier(photo)] ?? 0 }
    var bytesReserved: Int { state.photos.bytesReserved }
    /// The photos that wait for room for their bodies.
    private var waitingForRoom: [Photo] {
        refused.filter { photo in
            guard let entry = state.photos.entry(of: photo) else { return false }
            return entry.stage == .arrived || entry.stage == .downloading
        }
    }

    /// The photos in the order in which they are asked for again.
    func inOrder(_ photos: [Photo]) -> [Photo] { photos.filter(hasBody) + byPriority(photos.filter { !hasBody($0) }) }

    func hasBody(_ photo: Photo) -> Bool { state.photos.entry(of: photo)?.stage == .downloading }

    private func byPriority(_ photos: [Photo]) -> [Photo] {
        photos.enumerated().sorted {
            (urgency(of: $1.element).priority.rank, $0.offset) < (urgency(of: $0.element).priority.rank, $1.offset)
        }.map(\.element)
    }

    /// The lowest rank of which downloads may send requests.
    var lowestOpen: Int { state.lowestOpen }

    var photosWanted: Int { state.photosWanted(from: .veryLow) }
    var demand: ClaimDemand { state.demand }
    func claimSize(from priority: BatchPriority) -> ClaimSize { state.claimSize(from: priority) }
    var excluded: [BatchID] { state.excludedFromClaims(isForDrained: false) }
    var transfers: Int { state.activity.downloading }
    var window: Int { state.window }
    var activities: [BatchActivity] { state.batchActivities }
    var reserve: Int { state.reserve }
    var needsRoom: Bool { state.needsRoom }
    var limits: (downloads: Int, filtrations: Int) { state.limits }
    /// Photos whose download waits for its host or for a retry.
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

    /// Sets the number of bytes that the state expects of each download.
    mutating func expectDownloads(of bytes: Int) { state.photos.typicalBytes = bytes }

    /// The work that is due but that no effect has announced.
    var unannounced: [String] {
        var found: [String] = []
        var copy = state
        if !copy.beginDownloads(urgently: false).isEmpty { found.append("downloads") }
        copy = state
        if !copy.queueFilters().isEmpty { found.append("filters") }
        // The end of an aborted download is announced later.
        let isAnnounced = mayResume || state.photos.all.contains { $0.isAborting && $0.stage.isDownload }
        let waiting = isAnnounced ? [] : inOrder(waitingForRoom)
        for photo in waiting.filter(hasBody) + waiting.filter({ !hasBody($0) }).prefix(1) {
            copy = state
            if copy.handle(.downloadCarries(photo, bytes: wantedBytes(of: photo))).mayProceed {
                found.append("bodies that wait for room")
            }
        }
        guard !areReportsWoken else { return found }
        if !state.reports(.now, olderThan: .seconds(1000)).isEmpty { found.append("reports") }
        copy = state
        copy.needsRoom = false  // the releases that make room were announced when the need began
        if !copy.releases(.now).isEmpty { found.append("releases") }
        return found
    }

    /// Fails if the parts of the state are inconsistent.
    func check(_ location: SourceLocation = #_sourceLocation) {
        var wrong = state.inconsistencies()
        if remembered != Set(state.operations.keys) { wrong.append("a worker remembers \(remembered.map(\.number))") }
        #expect(wrong.isEmpty, "\(wrong)", sourceLocation: location)
    }
}

extension [WorkerState.Effect] {
    var cancelled: [PhotoTask] { compactMap { if case .cancel(let task) = $0 { task } else { nil } } }
    var withdrawn: [PhotoTask] { compactMap { if case .withdraw(let task) = $0 { task } else { nil } } }
    var reordered: [PhotoTask] { compactMap { if case .reorder(let task) = $0 { task } else { nil } } }
    var changesLimits: Bool { contains { if case .applyLimits = $0 { true } else { false } } }
    var mayProceed: Bool { contains { if case .proceed = $0 { true } else { false } } }
    /// Whether more work may start, or work must be reported.
    var schedulesWork: Bool { contains { if case .schedule = $0 { true } else { false } } }
    var wakesHeartbeat: Bool { contains { if case .wakeHeartbeat = $0 { true } else { false } } }
    var beginsOutage: Bool {
        contains { if case .outage(_, beganFor: let batches) = $0 { batches != nil } else { false } }
    }
}
