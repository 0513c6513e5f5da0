import DarkroomModel
import Testing

@testable import DarkroomStore
@testable import DarkroomWorker

/// A ledger on its own, with what a worker would do around it: no server, no threads, no clock.
struct LedgerBench {
    var ledger: WorkerLedger
    private var version = 0
    private var fencingToken = 0
    private var contexts: [BatchID: BatchContext] = [:]

    init(downloads: Int = 4, filtrations: Int = 2, maxBytesHeld: Int = 1 << 30) {
        ledger = WorkerLedger(downloads: downloads, filtrations: filtrations, maxBytesHeld: maxBytesHeld)
        ledger.controls.heardAll(upTo: 0)
    }

    // MARK: What Redis does

    /// Hands out an operation of 10 photos; what holds for its batch is what was heard last.
    @discardableResult
    mutating func claim(
        _ batch: BatchID, _ number: Int = 1, photos: Int = 10, priority: Priority? = nil, stateCodes: String? = nil,
        leaseExpiries: Int = 0
    ) throws -> HeldOperation {
        var options = BatchOptions()
        options.operationSize = 10
        let context = try contexts[batch] ?? BatchContext(batch, options, WorkerConfiguration())
        contexts[batch] = context
        fencingToken += 1
        let held = HeldOperation(batch: batch, number: number, fencingToken: fencingToken)
        if let priority {
            var controls = BatchControls()
            controls.priority = priority
            _ = ledger.steer { $0.answered(version, sent: version, batches: [batch: controls]) }
        }
        let claimed = ClaimedOperation(
            held: held, stateCodes: Array((stateCodes ?? String(repeating: "N", count: photos)).utf8),
            leaseExpiries: leaseExpiries,
            entry: [])
        let first = (number - 1) * 10
        let records = (0..<claimed.stateCodes.count).map {
            PhotoRecord(index: first + $0, name: "\(first + $0)", url: "http://example.com/\(first + $0)")
        }
        let operation = OperationInHand(
            claimed, context, records: records, past: .init(lines: [[UInt8]?](repeating: nil, count: records.count)))
        _ = ledger.accept(operation)
        return held
    }

    /// A change of a batch that is published.
    @discardableResult
    mutating func steer(_ batch: BatchID, _ change: (inout BatchControls) -> Void) -> WorkerLedger.Orders {
        version += 1
        var controls = ledger.controls.batch(batch)
        change(&controls)
        return ledger.heard(.batch(batch, controls, version: version))
    }

    /// A change of the cluster that is published.
    @discardableResult
    mutating func steerCluster(_ change: (inout ClusterControls) -> Void) -> WorkerLedger.Orders {
        version += 1
        var controls = ledger.controls.cluster
        change(&controls)
        return ledger.heard(.cluster(controls, version: version))
    }

    // MARK: What disks do

    /// The output of a batch cannot be written; with a device neither can those of `others`.
    @discardableResult
    mutating func bar(
        _ batch: BatchID, kind: OutputObstacle.Kind = .full, device: UInt? = nil, and others: [BatchID] = []
    ) -> (orders: WorkerLedger.Orders, isNews: Bool) {
        let place = OutputPlace(folder: "/nowhere", sign: ManifestPath.folder(batch))
        let obstacle = OutputObstacle(kind, place, folder: "", bytes: 1000, detail: "no room for \(batch)")
        return ledger.bar(batch, and: device == nil ? [] : Set(others), by: obstacle, device: device, left: nil)
    }

    /// All outputs can be written again.
    mutating func free() {
        for wait in ledger.outputWaits { _ = ledger.freed(wait.number) }
    }

    // MARK: What the local queues do

    /// Begins what may begin, and its transfers.
    mutating func begin(urgently: Bool = true) -> [PhotoInProgress] {
        let photos = ledger.begin(urgently: urgently)
        for photo in photos { _ = ledger.mayDownload(photo) }
        return photos
    }

    /// The download of a photo is through.
    mutating func download(_ photo: PhotoInProgress, bytes: Int = 1000) {
        let isWanted = ledger.downloaded(photo, bytes: bytes)
        #expect(isWanted)
    }

    /// Filters all that the local queue is given, until nothing is left.
    @discardableResult
    mutating func filterAll() -> [PhotoInProgress] {
        var filtered: [PhotoInProgress] = []
        while true {
            let queued = ledger.filtrationsToQueue()
            guard !queued.isEmpty else { return filtered }
            for filtration in queued {
                filtered.append(filtration.photo)
                filter(filtration)
            }
        }
    }

    /// Filters one photo to its end.
    mutating func filter(_ queued: WorkerLedger.QueuedFiltration) {
        let mayFilter = ledger.mayFilter(queued.photo, queued.ticket)
        #expect(mayFilter)
        let mayPlace = ledger.mayPlace(queued.photo, queued.ticket)
        #expect(mayPlace)
        _ = ledger.filtrationEnded(queued.photo, queued.ticket, Self.outcome(queued.photo))
    }

    /// Downloads and filters until nothing of what is held is left to begin.
    /// - Returns: the photos in the order in which they were filtered.
    mutating func runAll() -> [PhotoInProgress] {
        var filtered: [PhotoInProgress] = []
        while true {
            let photos = begin()
            guard !photos.isEmpty else { return filtered }
            for photo in photos { download(photo) }
            filtered += filterAll()
        }
    }

    static func outcome(_ photo: PhotoInProgress) -> PhotoOutcome {
        PhotoOutcome(
            state: .filtered, line: ManifestLine(batch: photo.operation.batch, record: photo.record, state: .filtered),
            bytesIn: 1, bytesOut: 1)
    }

    func stateCodes(_ held: HeldOperation) -> String {
        String(decoding: ledger.operations[held]?.stateCodes ?? [], as: UTF8.self)
    }

    // MARK: What must hold after every step

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
            let free = operation.stateCodes.enumerated().count { position, stateCode in
                PhotoRecordState(stateCode: stateCode)?.isFinal != true
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
