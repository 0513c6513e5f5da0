import DarkroomModel
import DarkroomStore

/// What a worker holds, and every decision about it: what begins next, what stops, what is to be reported, what is handed back.
///
/// A plain value without locks, clocks or threads; its owner holds the lock and acts on the answers outside of it. By aspect:
/// `+Photos` what begins, `+Filtrations` what is filtered, `+BatchControls` what users change meanwhile, `+Claiming` what to ask for,
/// `+Reporting` what Redis is told, `+Outputs` what waits for a disk.
struct WorkerLedger {
    /// A filtration that nobody waits for any more.
    enum Ghost: Equatable {
        /// Has not begun, and never will.
        case queued
        /// Runs on with the bytes of its photo, until its next check or until an encoder is through.
        case running(bytes: Int)
    }

    /// Downloads at once, by the worker's own configuration, and filtrations.
    let ownDownloads: Int
    let ownFiltrations: Int
    /// The most downloaded bytes that wait for their filter before no more downloads begin.
    let maxBytesHeld: Int
    /// How long a suspended operation is held for its downloaded bytes.
    let holdsSuspended: Duration
    /// How long an operation whose output cannot be written is held for its downloaded bytes, and for what is not reported.
    let holdsBarred: Duration
    /// What users changed while the worker runs.
    var controls = WorkerSteering()
    var operations: [HeldOperation: OperationInHand] = [:]
    var batches: [BatchID: BatchInHand] = [:]
    var order: [HeldOperation] = []  // as they were claimed
    /// Claimed, but not taken up yet, which takes as long as a slow disk does: renewed meanwhile.
    var arriving: Set<HeldOperation> = []
    /// Claimed, but not to be run here: renewed until they are handed back.
    var returned: Set<HeldOperation> = []
    /// Operations that are done and wait to be reported.
    var doneOperations = 0
    /// Obstacles to outputs, and the batches that wait for them to go.
    var outputWaits: [OutputWait] = []
    var lastOutputWait = 0
    var isStopping = false
    var isAborting = false

    // Photos.
    var inProgress: [PhotoInProgress.Key: BegunPhoto] = [:]
    /// Photos whose bytes are here.
    var photosHeld = 0
    var bytesHeld = 0
    /// Photos that became final since the worker started.
    var photosDone = 0
    /// Filtrations that nobody waits for any more but that are still in the local queue or running, by ticket.
    var ghosts: [Int: Ghost] = [:]
    var lastTicket = 0
    /// What a photo's bytes come to, of those seen last: what a download that runs is expected to bring.
    var typicalBytes = 1 << 20
    /// True when downloads did not begin for the bytes of photos that are not to be filtered now.
    var wantsRoom = false
    /// Batches of which nothing is left to begin, and of which there may be more to claim.
    var hungry: Set<BatchID> = []
    /// The batch whose focus a full worker may have to claim an operation for.
    var focusToClaim: BatchID?
    /// Whether a batch has stalled since this was last asked: others may be claimed in its place.
    var hasStalled = false

    // By rank of priority.
    /// Batches that have photos to begin, in turn.
    var beginLanes = [[BatchID]](repeating: [], count: Priority.allCases.count)
    /// Batches that have downloaded photos to filter, in turn.
    var filterLanes = [[BatchID]](repeating: [], count: Priority.allCases.count)
    /// Photos that have begun, but for those that may not be filtered now and those that wait for their host.
    var active = [Int](repeating: 0, count: Priority.allCases.count)
    /// Photos whose download runs or is about to.
    var downloading = [Int](repeating: 0, count: Priority.allCases.count)
    /// Photos whose download waits for its host or for another attempt.
    var waiting = [Int](repeating: 0, count: Priority.allCases.count)
    /// Batches of which as many photos wait for their hosts as may.
    var stalled = [Int](repeating: 0, count: Priority.allCases.count)
    /// Photos in the local queue of filtrations.
    var filtering = [Int](repeating: 0, count: Priority.allCases.count)

    /// Counts filtrations among batches that compete, see `filterTurn`.
    var favours = 0

    init(
        downloads: Int, filtrations: Int, maxBytesHeld: Int, holdsSuspended: Duration = .seconds(600),
        holdsBarred: Duration = .seconds(30)
    ) {
        ownDownloads = downloads
        ownFiltrations = filtrations
        self.maxBytesHeld = maxBytesHeld
        self.holdsSuspended = holdsSuspended
        self.holdsBarred = holdsBarred
    }

    /// How many downloads run at once.
    var downloads: Int { controls.cluster.downloads ?? ownDownloads }
    /// How many filtrations run at once.
    var filtrations: Int { controls.cluster.filtrations ?? ownFiltrations }
    /// How many photos may have begun and not ended: enough that no filtration waits while downloads come and go.
    var window: Int { downloads + 4 * filtrations }
    /// How many downloads run or are about to.
    var transfers: Int { downloading.reduce(0, +) }
    /// The most photos of one batch that wait for their hosts; so many others of it begin meanwhile.
    var maxWaitingOfBatch: Int { window }
    /// The most photos of a priority and of all higher ones that wait for their hosts, which bounds memory. At this number,
    /// no further photo of a batch begins while one of the batch waits.
    static let maxWaiting = 1024
    /// With more stalled batches of a priority, and of all higher ones, nothing more is claimed for it.
    static let maxStalled = 500
    /// The most batches that are compared to find whose turn it is: what begins costs the same however many are held.
    static let maxCompared = 8
    /// How many photos above the window may begin for each lower priority of which photos have begun.
    var reserve: Int { 4 * filtrations }

    // MARK: What is held

    /// What is held, to be renewed.
    var held: [HeldOperation] { order + arriving + returned }

    /// The shortest lease of what is taken up.
    var shortestLease: Duration? { operations.values.map(\.context.options.lease).min() }

    /// Takes an operation that was claimed. What is still held of it under an older fence is dropped first.
    /// - Returns: the photos of that which are to be stopped.
    mutating func accept(_ operation: OperationInHand) -> [PhotoInProgress] {
        let held = operation.held
        let older = batches[held.batch]?.operations.first { $0.number == held.number }
        let dropped = older.map { drop($0) } ?? []
        operations[held] = operation
        order.append(held)
        if operation.isDone { doneOperations += 1 }
        if batches[held.batch] == nil {
            batches[held.batch] = BatchInHand(
                controls.batch(held.batch), controls.cluster, isBarred: isBarred(held.batch),
                operationSize: operation.context.options.operationSize)
            controls.held.insert(held.batch)
        }
        batches[held.batch]?.operations.append(held)
        hungry.remove(held.batch)
        arrange(held.batch)
        return dropped
    }

    /// Forgets an operation that is another's now, or has ended.
    /// - Returns: its photos that are to be stopped; their results change nothing any more.
    mutating func drop(_ held: HeldOperation) -> [PhotoInProgress] {
        returned.remove(held)
        arriving.remove(held)
        guard let operation = operations[held] else { return [] }
        var stopped: [PhotoInProgress] = []
        if operation.running > 0 {
            for entry in inProgress.values where entry.photo.operation == held && stop(entry, also: .placing) {
                stopped.append(entry.photo)
            }
        }
        if operations[held]?.isDone == true { doneOperations -= 1 }
        operations[held] = nil
        order.removeAll { $0 == held }
        batches[held.batch]?.operations.removeAll { $0 == held }
        arrange(held.batch)
        forgetBatchIfUnused(held.batch)
        return stopped
    }

    /// Takes an operation that is not run here, to be handed back.
    mutating func giveBack(_ held: HeldOperation) {
        guard arriving.remove(held) != nil else { return }
        returned.insert(held)
    }

    /// Forgets a batch of which no operation is held and no photo ends any more.
    mutating func forgetBatchIfUnused(_ id: BatchID) {
        guard let batch = batches[id], batch.operations.isEmpty, batch.begun == 0 else { return }
        batches[id] = nil
        hungry.remove(id)
        controls.held.remove(id)
    }

    // MARK: Bookkeeping

    /// Changes what is known of a batch, and with it what is counted by priority and who is in turn.
    mutating func change(_ id: BatchID, _ body: (inout BatchInHand) -> Void) {
        guard let place = batches.index(forKey: id) else { return }
        let isCrowded = waiting[batches.values[place].rank...].reduce(0, +) >= Self.maxWaiting
        let effect = batches.values[place].change(mostWaiting: isCrowded ? 1 : maxWaitingOfBatch, body)
        let (rank, newRank) = (effect.before.rank, effect.after.rank)
        active[rank] -= effect.before.active
        active[newRank] += effect.after.active
        filtering[rank] -= effect.before.filtrations
        filtering[newRank] += effect.after.filtrations
        downloading[rank] -= effect.before.downloads
        downloading[newRank] += effect.after.downloads
        waiting[rank] -= effect.before.waiting
        waiting[newRank] += effect.after.waiting
        stalled[rank] -= effect.before.stalled
        stalled[newRank] += effect.after.stalled
        if effect.after.stalled > effect.before.stalled { hasStalled = true }
        if effect.leavesBeginLane { beginLanes[rank].removeAll { $0 == id } }
        if effect.entersBeginLane { beginLanes[newRank].append(id) }
        if effect.leavesFilterLane { filterLanes[rank].removeAll { $0 == id } }
        if effect.entersFilterLane { filterLanes[newRank].append(id) }
    }

    /// Changes what is known of an operation, in place.
    mutating func update<Answer>(_ held: HeldOperation, _ body: (inout OperationInHand) -> Answer) -> Answer? {
        guard let place = operations.index(forKey: held) else { return nil }
        return body(&operations.values[place])
    }

    /// Puts a batch's operations and downloaded photos in order, after operations came, went or may run otherwise than before.
    mutating func arrange(_ id: BatchID) {
        guard let batch = batches[id] else { return }
        let focus = batch.controls.focus
        var toBegin: [HeldOperation] = []
        var others: [HeldOperation] = []
        var unbegun = 0
        var isAnyBarred = !batch.aside.isEmpty
        for held in batch.operations {
            _ = update(held) { operation in
                operation.setFocus(focus?.photos)
                operation.isOutsideFocus = focus?.only == true && operation.focus == nil
                if !operation.mayRun { isAnyBarred = true }
                guard operation.hasPhotosToBegin, operation.mayRun else { return }
                unbegun += operation.photosToBegin
                if operation.focus == nil { others.append(held) } else { toBegin.append(held) }
            }
        }
        toBegin += others
        var ready: ArraySlice<PhotoInProgress> = []
        var aside: ArraySlice<PhotoInProgress> = []
        for photo in isAnyBarred ? batch.ready + batch.aside : [] {
            if mayRun(photo.operation) { ready.append(photo) } else { aside.append(photo) }
        }
        change(id) { batch in
            batch.toBegin = toBegin
            batch.unbegun = unbegun
            if isAnyBarred { (batch.ready, batch.aside) = (ready, aside) }
        }
    }

    /// Whether photos of an operation are to run as far as the operation itself is concerned.
    func mayRun(_ held: HeldOperation) -> Bool { operations[held]?.mayRun ?? false }

    // MARK: Stopping

    /// Nothing begins any more.
    /// - Returns: the photos whose downloads have not begun, to be withdrawn.
    mutating func stop() -> [PhotoInProgress] {
        isStopping = true
        return inProgress.values.filter { [.queued, .waiting].contains($0.stage) }.map(\.photo)
    }

    /// Nothing goes on any more. The answer are the photos that run, which are to be stopped.
    mutating func abort() -> [PhotoInProgress] {
        isStopping = true
        isAborting = true
        return inProgress.values.filter { stop($0) }.map(\.photo)
    }
}
