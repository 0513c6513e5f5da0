import DarkroomConcurrency
import DarkroomLogging
import DarkroomModel
import DarkroomStore
import DarkroomWorkerState

/// What the threads that coordinate a worker with Redis share: the store, and the signals between them.
package final class Coordination: Sendable {
    /// The worker's id.
    package let id: String
    package let store: BatchStore
    package let logger: Logger
    /// Raised when there may be room or work to claim.
    package let claimSignal = Signal()
    /// Raised when there may be something to report or to release.
    package let reportSignal = Signal()
    /// Raised when a heartbeat is to be sent at once.
    package let heartbeatSignal = Signal()
    /// Set when the worker leaves without finishing anything.
    package let leaving = Latch()
    /// Set when nothing more is claimed, whatever Redis answers.
    package let claimsEnd = Latch()
    /// Whether the last heartbeat arrived. After Redis was away, leases are renewed first, then reports are sent, then operations
    /// are claimed.
    package let isConnected = Locked(false)
    /// When to claim, and what.
    let plan = Locked(ClaimPlan(now: .now))
    /// The turn of the ready queues in the last heartbeat's answer; the claim loop takes it.
    let readyTurn = Locked<Int?>(nil)
    /// The batches that this worker refuses.
    package let refusals = Locked(Refusals())
    /// Blocks a worker that stood still until it knows its leases.
    let leaseGuard = LeaseGuard()
    /// Publishes the states of photos.
    package let events: PhotoEvents

    package init(id: String, store: BatchStore, logger: Logger) {
        self.id = id
        self.store = store
        self.logger = logger
        events = PhotoEvents(worker: id, channel: store.keys.eventsChannel, connection: store.connection)
    }

    /// There may be work of a priority. `workers` claim it, spread over 0.1 ms for each of them, 20 ms at most.
    package func expectWork(_ priority: BatchPriority, workers: Int = 1) {
        let spread = Duration.microseconds(workers > 1 ? Int.random(in: 0...min(20_000, 100 * workers)) : 0)
        plan.withLock { $0.noticed(priority, due: .now + spread) }
        claimSignal.raise()
    }

    /// A call of Redis failed: the heartbeat loop finds out whether Redis is there before anything else is tried.
    func redisFailed(_ error: StoreError) {
        isConnected.withLock { $0 = false }
        // The heartbeat loop logs that Redis is away or not ready. Other errors would be logged by nobody else.
        if !error.isPassing { logger.error("Redis did not do what it was asked", ["detail": .text(error)]) }
        heartbeatSignal.raise()
    }
}

/// A worker, as its coordination with Redis needs it.
package protocol CoordinatedWorker: AnyObject, Sendable {
    var coordination: Coordination { get }

    /// Asks the worker's state.
    func read<Answer>(_ question: (WorkerState) -> Answer) -> Answer

    /// Changes the worker's state, and performs the effects that need nobody else.
    /// - Returns: all effects.
    @discardableResult
    func handle(_ event: WorkerState.Event) -> [WorkerState.Effect]

    /// What to claim, and for how many photos from a priority on.
    var demand: ClaimDemand { get }
    func photosToClaim(from priority: BatchPriority) -> Int

    /// The operations whose leases are renewed. The others, `stuck` in number, wait for a file system that does not answer.
    var renewed: (operations: [HeldOperation], stuck: Int) { get }
    /// Whether a file system that does not answer keeps the worker from finishing any operation: it claims none.
    var isStuck: Bool { get }

    /// What the worker says of itself: the fields of its hash in Redis.
    var facts: [(field: String, value: String)] { get }

    /// Prepares claimed operations, and handles ``WorkerState/Event/prepared(_:)`` or ``WorkerState/Event/declined(_:)`` for each.
    func prepare(_ operations: [ClaimedOperation])
    /// Leaves a batch to other workers for a while.
    func refuse(_ batch: BatchID, _ reason: String)
    /// Writes what must be on disk before the operations are reported.
    func writeFiles(of reports: [WorkerState.Report]) -> WrittenFiles
    /// Removes the manifest files of other workers of an operation that has ended here.
    func removeOtherManifests(of held: HeldOperation, _ resources: any OperationResources)
    /// Removes temporary files that a crashed worker left of an operation of a cancelled batch. Does not block.
    func removeStaleFiles(of held: HeldOperation)
    /// Takes webhooks that are due. Does not block.
    func deliver(_ webhooks: [DueWebhook])
}

/// The result of writing the files of reports.
package struct WrittenFiles {
    /// Why the files of an operation could not be written.
    package var failures: [HeldOperation: String] = [:]
    /// Operations whose files may be lost; they are not reported.
    package var lost: Set<HeldOperation> = []

    package init() {}
}

extension CoordinatedWorker {
    private var logger: Logger { coordination.logger }

    /// Blocks after a standstill until Redis was asked which leases this worker still has, see ``LeaseGuard``.
    package func waitForLeases() {
        guard let lease = read({ $0.shortestLease }) else { return }
        coordination.leaseGuard.wait(lease: lease) { coordination.heartbeatSignal.raise() }
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
                LogMetadata(held).adding(["fencingToken": .number(held.fencingToken)]))
        }
        noteEnd(of: ending)
    }

    /// An operation has ended.
    func ended(_ held: HeldOperation) {
        let wasLocal = handle(.ended(held)).contains { if case .left = $0 { true } else { false } }
        logger.debug("operation ended", LogMetadata(held))
        if wasLocal { noteEnd(of: [held.batch]) }
    }

    /// Logs each of these batches that has finished and of which this worker has no operation any more. Reads the batches from
    /// Redis, and logs nothing if that fails.
    func noteEnd(of batches: Set<BatchID>) {
        guard logger.isEnabled(.info) else { return }
        let left = read { state in batches.filter { !state.hasOperation(of: $0) } }
        guard !left.isEmpty, let facts = try? coordination.store.facts(of: left.sorted()) else { return }
        for batch in facts where batch.state == .finished {
            logger.info("batch finished", LogMetadata(batch))
        }
    }
}
