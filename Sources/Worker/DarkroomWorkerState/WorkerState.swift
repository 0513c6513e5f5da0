import DarkroomModel

/// The operations and photos of a worker. Decides which photos start and stop, and which operations are reported and
/// released.
///
/// DESIGN. A plain value without locks and threads. Its owner, the driver, calls ``handle(_:)`` for each event while it
/// holds a lock, and performs the effects after it has released the lock. Therefore the rules can be tested with
/// millions of random events, and no rule depends on which thread reports an event. The events contain the time.
/// The clock itself is read only for the age of unreported changes, in ``LocalOperation``, and for the times of photos
/// and claims, which no rule uses. The parts of the state: ``Leases``, ``RunQueues`` (which batch is next),
/// ``LocalBatch`` and ``Hold`` (which photos may run), ``LocalOperation`` (the progress of an operation),
/// ``PhotoTable``, ``StorageOutages``, and ``ControlMirror`` (the control flags).
package struct WorkerState: Sendable {
    let configuration: Configuration
    var leases = Leases()
    var queues = RunQueues()
    var batches: [BatchID: LocalBatch] = [:]
    var operations: [HeldOperation: LocalOperation] = [:]
    var photos = PhotoTable()
    var outages = StorageOutages()
    var controls = ControlMirror()
    /// The number of local operations that are done and not reported.
    var doneOperations = 0
    /// Batches that have no photo left to start in this worker, and may have more operations to claim.
    var drained: Set<BatchID> = []
    /// The number of operations that the worker should release, because another worker is idle.
    var operationsWanted = 0
    /// The batch with the latest focus, if even a full worker may have to claim an operation in this focus.
    var focusToClaim: BatchID?
    /// Whether downloads were not started because downloaded photos that must not be filtered now fill the memory.
    var needsRoom = false
    /// Whether bodies have to wait for room in memory.
    var areDownloadsHeld = false
    /// The lowest rank whose downloads may send requests.
    package private(set) var lowestOpen = 0
    /// Whether the worker may want operations that it did not want at the last scheduling, for example because a batch has
    /// stalled or an operation waits for a host that does not answer.
    var mayWantMore = false
    /// The number of photos that became final since the worker started.
    package internal(set) var photosDone = 0
    /// The number of photos that users cancelled while this worker was running them.
    package internal(set) var photosCancelled = 0
    /// Whether the worker is stopping, so that it starts no more photos.
    package private(set) var isStopping = false
    var isAborting = false

    /// The limits of a worker for the photos that it processes at the same time.
    package struct Configuration: Sendable {
        /// The number of concurrent downloads if the cluster has no limit.
        package var downloads: Int
        /// The number of concurrent filtrations if the cluster has no limit.
        package var filtrations: Int
        /// If more downloaded bytes than this are in memory, no further download starts.
        package var maxBytesHeld: Int
        /// The worker releases an operation whose photos all wait only if the wait is at least this long.
        package var leastDeferral: Duration

        package init(
            downloads: Int, filtrations: Int, maxBytesHeld: Int, leastDeferral: Duration = .seconds(10)
        ) {
            self.downloads = downloads
            self.filtrations = filtrations
            self.maxBytesHeld = maxBytesHeld
            self.leastDeferral = leastDeferral
        }
    }

    package init(_ configuration: Configuration) { self.configuration = configuration }

    /// Changes the state.
    /// - Returns: the effects that the driver must perform.
    package mutating func handle(_ event: Event) -> [Effect] {
        var effects: [Effect] = []
        let before = areDownloadsHeld ? room : nil
        perform(event, &effects)
        if let before, mayMakeRoom(event, before) {
            areDownloadsHeld = false
            effects.append(.resumeDownloads)
        }
        let lowest = openRank(lowestOpen)
        if lowest != lowestOpen {
            lowestOpen = lowest
            effects.append(.openDownloads)
        }
        return effects
    }

    private struct Room {
        let carrying, arrived, bytes: Int
        let activeRanks: [Int]

        /// Whether bodies that had to wait with the room `before` may continue now.
        func isLarger(than before: Room) -> Bool {
            carrying < before.carrying || arrived < before.arrived || bytes < before.bytes
                || activeRanks != before.activeRanks
        }
    }

    private var room: Room {
        Room(
            carrying: queues.total(\.carrying), arrived: queues.total(\.arrived),
            bytes: photos.bytesHeld + photos.bytesReserved,
            activeRanks: queues.activeRanks)
    }

    /// Whether bodies that had to wait may continue after an event.
    private func mayMakeRoom(_ event: Event, _ before: Room) -> Bool {
        switch event {
        case .downloadCarries: return room.activeRanks != before.activeRanks  // the driver asks again for the next body
        case .noticed, .answered: return true  // limits and priorities may have changed
        default: return room.isLarger(than: before)
        }
    }

    private mutating func perform(_ event: Event, _ effects: inout [Effect]) {
        switch event {
        case .claimed(let operations): leases.claim(operations, at: .now)
        case .prepared(let operation): accept(operation, &effects)
        case .declined(let held):
            leases.decline(held)
            // Photos may have waited for the preparation of an operation in the focus.
            effects += [.schedule(urgently: false), .wakeReports]
        case .lost(let operations): lose(operations, &effects)
        case .released(let held): release(held, &effects)
        case .ended(let held): end(held, &effects)
        case .filesLost(let operations): giveUp(operations, &effects)
        case .claimAnswered(let scope, let batches): claimAnswered(scope, batches, &effects)
        case .claimsPaused: claimsPaused(&effects)

        case .noticed(let notice): apply(notice, &effects)
        case .answered(let parts): apply(&effects) { for part in parts { $0.answered(part) } }
        case .batchCancelled(let id): apply(&effects) { $0.cancelled(id) }
        case .stateCodes(let codes, let held): merge(codes, held, &effects)

        case .schedule(let urgently): schedule(urgently: urgently, &effects)
        case .downloadWaits(let task, let isIdle, let end, let history):
            downloadWaits(task, isIdle: isIdle, until: end, history, &effects)
        case .downloadBegins(let task): downloadBegins(task, &effects)
        case .downloadCarries(let task, let bytes): downloadCarries(task, bytes, &effects)
        case .downloaded(let task, let bytes): downloaded(task, bytes, &effects)
        case .downloadEnded(let task, let outcome): downloadEnded(task, outcome, &effects)
        case .filterBegins(let job): filterBegins(job, &effects)
        case .placing(let job): placing(job, &effects)
        case .filterEnded(let job, let outcome): filterEnded(job, outcome, &effects)

        case .outputOpened(let id, let domains): outputOpened(id, domains, &effects)
        case .storageFault(let id, let refusal, let domain): storageFault(id, refusal, domain, &effects)
        case .storageChanged(let number, let refusal, let domain):
            applyHolds(outages.change(number, to: refusal, domain: domain), &effects)
        case .storageRecovered(let number):
            applyHolds(outages.remove(number), &effects)
            effects.append(.outageEnded(number))
        case .storageChecksDue(let now): checkStorage(now, &effects)

        case .reported(let report, let now):
            update(report.held) { $0.reported(report, now: now) }
        case .releasesDue(let now):
            let shared = Set(shareOperations())
            effects += releases(now).map { held in
                let operation = operations[held]
                return .release(
                    Release(
                        held: held, shared: shared.contains(held) ? controls.controls(of: held.batch).priority : nil,
                        hasPast: operation?.hasPast ?? false,
                        due: operation?.due, waitingURLs: operation?.waitingURLs ?? [],
                        retries: operation?.openRetries ?? [:]))
            }

        case .stopping:
            isStopping = true
            for entry in photos.all where entry.stage == .queued || entry.stage == .waiting {
                effects.append(.withdraw(entry.task))
            }
            effects += [.wakeClaims, .wakeReports]
        case .aborting:
            isStopping = true
            isAborting = true
            for entry in Array(photos.all) { stop(entry, &effects) }
            effects.append(.wakeReports)
        }
    }

    // MARK: Queries

    /// The largest numbers of concurrent downloads and filtrations: the cluster's limits, or else the worker's values.
    package var limits: (downloads: Int, filtrations: Int) {
        (
            controls.cluster.downloads ?? configuration.downloads,
            controls.cluster.filtrations ?? configuration.filtrations
        )
    }

    /// The operations whose leases are renewed.
    package var held: [HeldOperation] { leases.all }

    package var shortestLease: Duration? { operations.values.map(\.lease).min() }

    /// The highest version of the controls that this worker has received.
    package var controlsVersion: Int { controls.highest }

    package func hasOperation(of id: BatchID) -> Bool { batches[id]?.operations.isEmpty == false }

    package var blockedBatches: [BatchID: Refusal] { outages.refusals }

    package var hasOutages: Bool { !outages.all.isEmpty }

    package var activity: (downloading: Int, filtering: Int, bytesHeld: Int, photos: Int, photosDone: Int) {
        (
            queues.total(\.downloads), min(queues.total(\.filters), limits.filtrations), photos.bytesHeld,
            photos.count, photosDone
        )
    }

    // MARK: Bookkeeping

    /// Changes a batch, and updates the load of its priority and its position in the run queues.
    mutating func change(_ id: BatchID, _ body: (inout LocalBatch) -> Void) {
        guard let place = batches.index(forKey: id) else { return }
        // Reads the share in place. If a copy of the batch existed, the change below would copy the batch's lists of
        // photos (copy-on-write).
        let before = batches.values[place].share
        let others = queues.total(\.waiting, from: before.rank) - before.load.waiting
        body(&batches.values[place])
        let left = Self.maxWaiting - others - batches.values[place].waiting
        batches.values[place].updateStall(maxWaiting: max(Self.leastWaiting, 4 * left))
        queues.changed(id, from: before, to: &batches.values[place])
        if batches.values[place].isStalled, before.load.stalled == 0 { mayWantMore = true }
    }

    /// Adds a number of photos, which may be negative, to the virtual time of a batch.
    mutating func countService(_ id: BatchID, _ photos: Int) {
        change(id) { $0.served += photos }
        if let batch = batches[id] { queues.served(batch) }
    }

    @discardableResult
    mutating func update<Answer>(_ held: HeldOperation, _ body: (inout LocalOperation) -> Answer) -> Answer? {
        guard let place = operations.index(forKey: held) else { return nil }
        return body(&operations.values[place])
    }

    /// Rebuilds a batch's lists of photos to start and to filter, after its operations or their holds have changed.
    mutating func rebuild(_ id: BatchID) {
        guard let batch = batches[id] else { return }
        let focus = batch.controls.focus
        var focused: [HeldOperation] = []
        var others: [HeldOperation] = []
        var unbegun = 0
        var isAnyHeld = !batch.aside.isEmpty
        for held in batch.operations {
            update(held) { operation in
                operation.apply(focus)
                guard operation.hold == .none else {
                    isAnyHeld = true
                    return
                }
                guard operation.photosToBegin > 0 else { return }
                unbegun += operation.photosToBegin
                if operation.focus == nil { others.append(held) } else { focused.append(held) }
            }
        }
        var ready: ArraySlice<PhotoTask> = []
        var aside: ArraySlice<PhotoTask> = []
        for task in isAnyHeld ? batch.ready + batch.aside : [] {
            if operations[task.operation]?.hold == Hold.none { ready.append(task) } else { aside.append(task) }
        }
        change(id) { batch in
            batch.toBegin = focused + others
            batch.unbegun = unbegun
            if isAnyHeld { (batch.ready, batch.aside) = (ready, aside) }
        }
    }

    /// Whether and why the photos of an operation are held; nil if the operation is not local.
    func hold(of held: HeldOperation) -> Hold? {
        guard let operation = operations[held], let batch = batches[held.batch] else { return nil }
        return batch.hold.with(operation.hold)
    }
}
