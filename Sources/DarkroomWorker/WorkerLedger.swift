import DarkroomModel
import DarkroomStore

/// What a worker holds, and every decision about it: what begins next, what is to be reported, what is handed back.
///
/// A plain value without locks, clocks or threads; its owner holds the lock and acts on the answers outside of it.
struct WorkerLedger {
    /// A report as it is to be sent, with what must be on disk before.
    struct Report {
        let held: HeldOperation
        let context: BatchContext
        let letters: [UInt8]
        let lines: [[UInt8]?]
        let bytesIn: Int
        let bytesOut: Int
        let failures: [(index: Int, json: [UInt8])]
        let version: Int
        let hasPast: Bool
    }

    /// How many photos may have begun and not ended.
    let window: Int
    /// How many filtrations run at once.
    let filtrations: Int
    /// The most downloaded bytes that wait for their filter before no more downloads begin.
    let maxBytesHeld: Int
    private(set) var operations: [HeldOperation: OperationInHand] = [:]
    private(set) var inProgress: [PhotoInProgress.Key: PhotoInProgress] = [:]
    private(set) var bytesHeld = 0
    /// Photos that are downloaded and not yet through their filter.
    private(set) var photosHeld = 0
    private(set) var isStopping = false
    private var isAborting = false
    /// Photos that became final since the worker started.
    private(set) var photosDone = 0
    private var order: [HeldOperation] = []  // as they were claimed
    /// Claimed, but not to be run here: renewed until they are handed back.
    private var returned: Set<HeldOperation> = []
    /// What a photo's bytes come to, of those seen last: what a download that runs is expected to bring.
    private var typicalBytes = 1 << 20
    /// The most operations that are done and wait to be reported; with more, nothing is claimed.
    private static let maxUnreported = 256
    private var turns: [BatchID] = []  // whose photo begins next comes first

    init(downloads: Int, filtrations: Int, maxBytesHeld: Int) {
        // Enough that no filtration waits while downloads come and go, few enough for the local queues.
        window = downloads + 4 * filtrations
        self.filtrations = filtrations
        self.maxBytesHeld = maxBytesHeld
    }

    // MARK: Claiming

    /// How many photos a claim should ask for, 0 when the worker holds enough: what fills its queues and one operation more.
    var photosWanted: Int {
        guard !isStopping, operations.values.count(where: \.isDone) < Self.maxUnreported else { return 0 }
        let waiting = operations.values.filter(\.hasPhotosToBegin)
        guard waiting.count > 1 else { return max(1, window - inProgress.count - (waiting.first?.unbegun ?? 0)) }
        let unbegun = waiting.reduce(0) { $0 + $1.unbegun } - (waiting.map(\.records.count).max() ?? 0)
        return max(0, window - inProgress.count - unbegun)
    }

    /// Takes an operation that was claimed. What is still held of it under an older fence is dropped first.
    mutating func accept(_ operation: OperationInHand) -> [PhotoInProgress] {
        let older = operations.keys.first { $0.batch == operation.held.batch && $0.number == operation.held.number }
        let dropped = older.map { drop($0) } ?? []
        operations[operation.held] = operation
        order.append(operation.held)
        if !turns.contains(operation.held.batch) { turns.append(operation.held.batch) }
        return dropped
    }

    /// Forgets an operation that is another's now; the photos of it that run are answered: their results are to be dropped.
    mutating func drop(_ held: HeldOperation) -> [PhotoInProgress] {
        returned.remove(held)
        guard operations.removeValue(forKey: held) != nil else { return [] }
        order.removeAll { $0 == held }
        if !order.contains(where: { $0.batch == held.batch }) { turns.removeAll { $0 == held.batch } }
        return inProgress.values.filter { $0.operation == held }
    }

    /// Takes an operation that is not run here, to be handed back.
    mutating func giveBack(_ held: HeldOperation) { returned.insert(held) }

    // MARK: Photos

    /// The photos that are to begin now, batch by batch in turn.
    mutating func begin() -> [PhotoInProgress] {
        var begun: [PhotoInProgress] = []
        // While the filters have enough to do, photos begin several at a time: one by one, each would wake three threads.
        let free = window - inProgress.count
        guard free >= window / 5 || photosHeld < 4 * filtrations else { return begun }
        while !isStopping, inProgress.count < window, bytesExpected < maxBytesHeld, let photo = next() {
            inProgress[photo.key] = photo
            begun.append(photo)
        }
        return begun
    }

    /// Bytes that are held, and those that the downloads that run are expected to bring.
    private var bytesExpected: Int { bytesHeld + (inProgress.count - photosHeld) * typicalBytes }

    private mutating func next() -> PhotoInProgress? {
        for (turn, batch) in turns.enumerated() {
            for held in order where held.batch == batch {
                // The operation is moved out while it changes, so that its arrays are not copied.
                guard var operation = operations.removeValue(forKey: held) else { continue }
                defer { operations[held] = operation }
                let position = operation.nextPhoto { index in
                    inProgress[PhotoInProgress.Key(batch: batch, index: index)] == nil
                }
                guard let position else { continue }
                operation.begin()
                turns.append(turns.remove(at: turn))
                return PhotoInProgress(operation.records[position], of: held, operation.context)
            }
        }
        return nil
    }

    /// The photo's bytes are here and wait for their filter.
    mutating func downloaded(_ photo: PhotoInProgress, bytes: Int) {
        bytesHeld += bytes
        photosHeld += 1
        typicalBytes += (bytes - typicalBytes) / 8
        operations[photo.operation]?.downloaded(index: photo.record.index)
    }

    /// The photo's bytes were used or thrown away.
    mutating func released(bytes: Int) {
        bytesHeld -= bytes
        photosHeld -= 1
    }

    /// Whether a result may still be put in place: the operation is held under the fence it began with.
    func isWanted(_ photo: PhotoInProgress) -> Bool { operations[photo.operation] != nil }

    /// The photo ended; `outcome` nil when it was stopped without an end.
    /// - Returns: true when the reporter should look: its operation has nothing left to run, or the first news.
    mutating func ended(_ photo: PhotoInProgress, _ outcome: PhotoOutcome?) -> Bool {
        inProgress[photo.key] = nil
        guard let isFirstNews = operations[photo.operation].map({ $0.oldestNews == nil }) else { return false }
        if let outcome {
            operations[photo.operation]?.finished(index: photo.record.index, outcome)
            photosDone += 1
        } else {
            operations[photo.operation]?.abandon(index: photo.record.index)
        }
        return operations[photo.operation].map { $0.isDone || isFirstNews || (isStopping && $0.running == 0) } ?? false
    }

    /// Settles every photo of an operation that is not to run.
    mutating func settleAll(_ held: HeldOperation, _ state: PhotoRecordState) {
        operations[held]?.settleAll(state)
    }

    /// Counts every photo of an operation as filtered without doing anything.
    mutating func skip(_ held: HeldOperation) {
        operations[held]?.skip()
        photosDone += operations[held]?.letters.count ?? 0
    }

    // MARK: Reporting

    /// The reports that are due: those of operations that are done, and those with news older than `age`.
    func reports(now: ContinuousClock.Instant, olderThan age: Duration) -> [Report] {
        order.compactMap { held in
            guard let operation = operations[held], operation.hasNews else { return nil }
            let isDue =
                operation.isDone || isAborting || age == .zero || operation.oldestNews.map { now - $0 >= age } ?? false
                || (isStopping && operation.running == 0)
            guard isDue else { return nil }
            return Report(
                held: held, context: operation.context, letters: operation.letters, lines: operation.lines,
                bytesIn: operation.bytesIn, bytesOut: operation.bytesOut, failures: operation.failures,
                version: operation.version, hasPast: operation.hasPast)
        }
    }

    /// When the oldest news that nobody hurried falls due.
    func nextReport(after age: Duration) -> ContinuousClock.Instant? {
        operations.values.compactMap(\.oldestNews).min().map { $0 + age }
    }

    /// A report arrived, and the operation goes on.
    mutating func reported(_ report: Report, stored letters: [UInt8]?, now: ContinuousClock.Instant) {
        operations[report.held]?.reported(version: report.version, failures: report.failures.count, now: now)
        if let letters { operations[report.held]?.adopt(letters) }
    }

    /// The operations to hand back: those that are not run here; those of a stopping worker of which nothing runs and nothing is left to report; of an
    /// aborting one all, since nothing of what may still run is put in place any more.
    var toHandBack: [HeldOperation] {
        guard !isAborting else { return held }
        guard isStopping else { return Array(returned) }
        return returned + order.filter { held in operations[held].map { $0.running == 0 && !$0.hasNews } ?? false }
    }

    // MARK: Stopping

    /// Nothing begins any more.
    mutating func stop() { isStopping = true }

    /// Nothing goes on any more. The answer are the photos that run, which are to be cancelled.
    mutating func abort() -> [PhotoInProgress] {
        isStopping = true
        isAborting = true
        return Array(inProgress.values)
    }

    /// What is held, to be renewed.
    var held: [HeldOperation] { order + returned }

    /// The shortest lease of what is held.
    var shortestLease: Duration? { operations.values.map(\.context.options.lease).min() }
}
