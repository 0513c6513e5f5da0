import DarkroomModel
import Testing

@testable import DarkroomStore
@testable import DarkroomWorker

/// The state of a worker on its own: each method is an event that a worker's threads would report, or a question that they
/// would ask. No server, no threads, no clock.
struct StateBench {
    typealias Photo = PhotoInProgress
    typealias FilterJob = WorkerLedger.QueuedFiltration

    /// What a worker has to do after an event.
    struct Effects {
        var cancelled: [Photo] = []
        var withdrawn: [Photo] = []
        var reordered: [Photo] = []
        var changesLimits = false
        var isNews = false

        init(_ orders: WorkerLedger.Orders) {
            cancelled = orders.stopped
            withdrawn = orders.withdrawn
            reordered = orders.reordered
            changesLimits = orders.limitsChanged
            isNews = orders.isNews
        }
    }

    static let maxWaiting = WorkerLedger.maxWaiting
    static let maxStalled = WorkerLedger.maxStalled

    private var ledger: WorkerLedger
    private var version = 0
    private var fence = 0
    private var contexts: [BatchID: BatchContext] = [:]

    init(downloads: Int = 4, filtrations: Int = 2, maxBytesHeld: Int = 1 << 30) {
        ledger = WorkerLedger(downloads: downloads, filtrations: filtrations, maxBytesHeld: maxBytesHeld)
        ledger.steering.heardAll(upTo: 0)
    }

    // MARK: Redis

    /// Claims an operation, of 10 photos by default, and takes it up. Without a priority the controls of its batch stay as they are.
    @discardableResult
    mutating func claim(
        _ batch: BatchID, _ number: Int = 1, photos: Int = 10, priority: Priority? = nil, letters: String? = nil,
        deaths: Int = 0
    ) throws -> HeldOperation {
        var options = BatchOptions()
        options.operationSize = 10
        let context = try contexts[batch] ?? BatchContext(batch, options, WorkerConfiguration())
        contexts[batch] = context
        fence += 1
        let held = HeldOperation(batch: batch, number: number, fence: fence)
        if let priority {
            var steering = Steering()
            steering.priority = priority
            answered(version: version, sent: version, [batch: steering])
        }
        let claimed = ClaimedOperation(
            held: held, letters: Array((letters ?? String(repeating: "N", count: photos)).utf8), deaths: deaths,
            entry: [])
        let first = (number - 1) * 10
        let records = (0..<claimed.letters.count).map {
            PhotoRecord(index: first + $0, name: "\(first + $0)", url: "http://example.com/\(first + $0)")
        }
        let operation = OperationInHand(
            claimed, context, records: records, past: .init(lines: [[UInt8]?](repeating: nil, count: records.count)))
        _ = ledger.accept(operation)
        return held
    }

    /// A claim has brought an operation, which is not taken up yet.
    mutating func claimed(_ held: HeldOperation) { ledger.arriving.insert(held) }

    /// An operation that was claimed is not to run here.
    mutating func declined(_ held: HeldOperation) { ledger.giveBack(held) }

    /// The operation is no longer this worker's.
    /// - Returns: the photos that are cancelled.
    @discardableResult
    mutating func lost(_ held: HeldOperation) -> [Photo] { ledger.drop(held) }

    /// Redis sends final state codes of an operation's photos.
    @discardableResult
    mutating func merge(_ codes: [UInt8], of held: HeldOperation) -> Effects { Effects(ledger.adopt(codes, of: held)) }

    /// Redis answers with the controls of some batches.
    @discardableResult
    mutating func answered(version: Int, sent: Int, _ batches: [BatchID: Steering]) -> Effects {
        Effects(ledger.steer { $0.answered(version, sent: sent, batches: batches) })
    }

    /// A change of a batch that is published.
    @discardableResult
    mutating func steer(_ batch: BatchID, _ change: (inout Steering) -> Void) -> Effects {
        version += 1
        var steering = controls(of: batch)
        change(&steering)
        let effects = Effects(ledger.heard(.batch(batch, steering, version: version)))
        ledger.noteFocus(of: batch, steering)
        return effects
    }

    /// A change of the cluster that is published.
    @discardableResult
    mutating func steerCluster(_ change: (inout ClusterSteering) -> Void) -> Effects {
        version += 1
        var steering = ledger.steering.cluster
        change(&steering)
        return Effects(ledger.heard(.cluster(steering, version: version)))
    }

    // MARK: Storage

    /// The output of a batch cannot be written; with a device neither can those of `others`.
    @discardableResult
    mutating func block(
        _ batch: BatchID, kind: OutputObstacle.Kind = .full, device: UInt? = nil, and others: [BatchID] = []
    ) -> (effects: Effects, isNews: Bool) {
        let place = OutputPlace(folder: "/nowhere", sign: ManifestPath.folder(batch))
        let obstacle = OutputObstacle(kind, place, folder: "", bytes: 1000, detail: "no room for \(batch)")
        let (orders, isNews) = ledger.bar(
            batch, and: device == nil ? [] : Set(others), by: obstacle, device: device, left: nil)
        return (Effects(orders), isNews)
    }

    /// A batch that is being prepared writes to a device. Returns why it cannot; nil when it can.
    mutating func storageBlocked(_ batch: BatchID, onDevice device: UInt) -> String? {
        ledger.bar(batch, onDevice: device)
    }

    /// Something else hinders now.
    mutating func storageChanged(_ number: Int, to obstacle: OutputObstacle) -> Effects {
        Effects(ledger.changed(number, to: obstacle))
    }

    /// The outages that are to be checked.
    mutating func storageChecksDue(now: ContinuousClock.Instant) -> [WorkerLedger.OutputWait] {
        ledger.outputsToLook(now: now)
    }

    /// All outputs can be written again.
    mutating func unblock() {
        for wait in ledger.outputWaits { _ = ledger.freed(wait.number) }
    }

    /// The files of an operation may be lost.
    /// - Returns: the photos that are cancelled.
    mutating func filesLost(_ held: HeldOperation) -> [Photo] { ledger.giveUp(held) }

    var outages: [WorkerLedger.OutputWait] { ledger.outputWaits }
    var blockedBatches: [BatchID: String] { ledger.barred }

    // MARK: Local queues

    /// Photos are to begin where there is room.
    /// - Parameter urgently: also one by one while the filters have enough to do.
    mutating func beginDownloads(urgently: Bool = false) -> [Photo] { ledger.begin(urgently: urgently) }

    /// Asks whether a download, or another attempt of it, may begin.
    mutating func downloadBegins(_ photo: Photo) -> WorkerLedger.DownloadPermission { ledger.mayDownload(photo) }

    mutating func downloadWaits(_ photo: Photo) { _ = ledger.waits(photo) }

    /// The bytes of a photo are here. Returns false when nobody wants them.
    mutating func downloaded(_ photo: Photo, bytes: Int) -> Bool { ledger.downloaded(photo, bytes: bytes) }

    mutating func downloadEnded(_ photo: Photo, _ outcome: PhotoOutcome?) { _ = ledger.downloadEnded(photo, outcome) }

    /// Filters are to be put into the local queue.
    mutating func queueFilters() -> [FilterJob] { ledger.filtrationsToQueue() }

    /// Asks whether a filter may begin.
    mutating func filterBegins(_ job: FilterJob) -> Bool { ledger.mayFilter(job.photo, job.ticket) }

    /// Asks whether a result may get its final name.
    mutating func placing(_ job: FilterJob) -> Bool { ledger.mayPlace(job.photo, job.ticket) }

    mutating func filterEnded(_ job: FilterJob, _ outcome: PhotoOutcome?) {
        _ = ledger.filtrationEnded(job.photo, job.ticket, outcome)
    }

    /// The worker stops. Returns the downloads that are withdrawn.
    mutating func stop() -> [Photo] { ledger.stop() }

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
                filtered.append(job.photo)
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
        filterEnded(job, Self.outcome(job.photo))
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

    func reportsDue(now: ContinuousClock.Instant, olderThan age: Duration) -> [WorkerLedger.Report] {
        ledger.reports(now: now, olderThan: age)
    }

    mutating func reported(_ report: WorkerLedger.Report, now: ContinuousClock.Instant) {
        ledger.reported(report, now: now)
    }

    /// The operations to release.
    mutating func releasesDue(now: ContinuousClock.Instant) -> [HeldOperation] { ledger.toHandBack(now: now) }

    // MARK: Questions

    /// Everything whose lease is renewed.
    var held: [HeldOperation] { ledger.held }
    /// Operations that are taken up, in the order of their claims.
    var localOperations: [HeldOperation] { ledger.order }
    var batchCount: Int { ledger.batches.count }
    var taskCount: Int { ledger.inProgress.count }
    var abandonedFilters: Int { ledger.ghosts.count }
    var bytesHeld: Int { ledger.bytesHeld }
    var photosHeld: Int { ledger.photosHeld }
    var photosWanted: Int { ledger.photosWanted }
    var demand: ClaimPlan.Wants { ledger.wants }
    var excluded: [BatchID] { ledger.unwanted }
    var transfers: Int { ledger.transfers }
    var window: Int { ledger.window }
    var reserve: Int { ledger.reserve }
    var needsRoom: Bool { ledger.wantsRoom }
    var limits: (downloads: Int, filtrations: Int) { (ledger.downloads, ledger.filtrations) }
    /// Photos whose download waits for its host or for another attempt.
    var waiting: Int { ledger.waiting.reduce(0, +) }

    func waiting(of batch: BatchID) -> Int? { ledger.batches[batch]?.waiting }
    func downloading(from priority: Priority) -> Int { ledger.downloading[priority.rank] }
    func controls(of batch: BatchID) -> Steering { ledger.steering.batch(batch) }
    func urgency(of photo: Photo) -> Urgency { ledger.urgency(of: photo) }
    func unfinished(_ held: HeldOperation) -> Int? { ledger.operations[held]?.unfinished }
    func isUnreported(_ held: HeldOperation) -> Bool? { ledger.operations[held]?.isUnreported }
    func crashProbe(of photo: Photo, begins: Bool) -> [UInt8]? { ledger.letters(of: photo, begins: begins) }

    func letters(_ held: HeldOperation) -> String {
        String(decoding: ledger.operations[held]?.letters ?? [], as: UTF8.self)
    }

    /// Makes the state expect so many bytes of each download.
    mutating func expectDownloads(of bytes: Int) { ledger.typicalBytes = bytes }

    // MARK: Invariants

    /// Everything that the ledger counts is what its books say.
    func check(_ location: SourceLocation = #_sourceLocation) {
        let books = Array(ledger.inProgress.values)
        let ghostBytes = ledger.ghosts.values.compactMap { if case .running(let bytes) = $0 { bytes } else { nil } }
        let withBytes = books.filter { ![.queued, .waiting, .downloading].contains($0.stage) }
        var wrong: [String] = []
        func expect(_ found: Int, _ counted: Int, _ what: String) {
            if found != counted { wrong.append("\(what): counted \(counted), found \(found)") }
        }
        expect(
            books.count - withBytes.count, ledger.transfers + ledger.waiting.reduce(0, +), "downloading or waiting")
        expect(withBytes.count + ghostBytes.count, ledger.photosHeld, "photos held")
        expect(withBytes.reduce(0) { $0 + $1.bytes } + ghostBytes.reduce(0, +), ledger.bytesHeld, "bytes held")
        expect(ledger.operations.values.count(where: \.isDone), ledger.doneOperations, "done operations")
        expect(ledger.order.count, ledger.operations.count, "operations in order")
        for (held, operation) in ledger.operations {
            let own = books.filter { $0.photo.operation == held }
            expect(own.count, operation.running, "running of \(held.number)")
            expect(own.count { $0.stage == .ready }, operation.waiting, "waiting of \(held.number)")
            let free = operation.letters.enumerated().count { position, letter in
                PhotoRecordState(letter: letter)?.isFinal != true
                    && !own.contains { $0.photo.record.index == operation.records[position].index }
            }
            expect(free, operation.unbegun, "left to begin of \(held.number)")
            if operation.isSuspect, operation.running > 1 {
                wrong.append("a suspect runs \(operation.running) at once")
            }
        }
        for rank in 0..<5 {
            let batches = ledger.batches.filter { $0.value.rank == rank }
            let queued = batches.values.reduce(0) { $0 + $1.filtrations }
            expect(queued, ledger.filtering[rank], "filtrations of rank \(rank)")
            expect(
                batches.values.reduce(0) { $0 + $1.begun - $1.parked - $1.waiting }, ledger.active[rank],
                "active of \(rank)")
            let own = books.filter { batches[$0.photo.operation.batch] != nil }
            expect(own.count { $0.stage == .waiting }, ledger.waiting[rank], "waiting of \(rank)")
            expect(
                own.count { [.queued, .downloading].contains($0.stage) }, ledger.downloading[rank],
                "downloading of \(rank)")
            let toBegin = Set(batches.filter { $0.value.hasPhotosToBegin }.keys)
            let toFilter = Set(batches.filter { $0.value.hasPhotosToFilter }.keys)
            if toBegin != Set(ledger.beginLanes[rank]) { wrong.append("lane of beginnings of \(rank)") }
            if toFilter != Set(ledger.filterLanes[rank]) { wrong.append("lane of filtrations of \(rank)") }
            expect(ledger.beginLanes[rank].count, toBegin.count, "lane of beginnings")
            expect(ledger.filterLanes[rank].count, toFilter.count, "lane of filtrations")
        }
        for (id, batch) in ledger.batches {
            if batch.isBarred != ledger.isBarred(id) { wrong.append("what bars \(id)") }
            let own = books.filter { $0.photo.operation.batch == id }
            expect(own.count, batch.begun, "begun of \(id)")
            expect(own.count { $0.stage == .ready }, batch.ready.count + batch.aside.count, "ready of \(id)")
            expect(
                own.count { [.filterQueued, .filtering, .placing].contains($0.stage) }, batch.filtrations,
                "filtrations of \(id)")
            expect(
                batch.toBegin.reduce(0) { $0 + ledger.operations[$1]!.photosToBegin }, batch.unbegun, "unbegun of \(id)"
            )
            if batch.ready.contains(where: { !ledger.mayRun($0.operation) }) {
                wrong.append("one to filter may not run")
            }
            if batch.aside.contains(where: { ledger.mayRun($0.operation) }) { wrong.append("one aside may run") }
        }
        #expect(wrong.isEmpty, "\(wrong)", sourceLocation: location)
    }
}
