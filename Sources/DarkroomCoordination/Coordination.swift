import DarkroomConcurrency
import DarkroomLogging
import DarkroomModel
import DarkroomStore
import DarkroomWorkerState

/// The store and the signals that the threads of the coordination share.
package final class Coordination: Sendable {
    package let id: String
    package let store: BatchStore
    package let logger: Logger
    /// Raised when the worker may be able to take more operations, or when there may be operations to claim.
    package let claimSignal = Signal()
    /// Raised when there may be operations to report or to release.
    package let reportSignal = Signal()
    /// Raised when a heartbeat must be sent at once.
    package let heartbeatSignal = Signal()
    /// Set when the worker ends at once, without releasing its operations.
    package let leaving = Latch()
    /// Set when no further claim may be sent.
    package let claimsEnd = Latch()
    /// Whether the last heartbeat succeeded. After an outage of Redis, the worker first renews its leases, then
    /// reports, then claims.
    package let isConnected = Locked(false)
    let plan = Locked(ClaimPlan(now: .now))
    /// The turn counter of the ready queues in the last heartbeat reply. The claim loop reads and clears it.
    let readyTurn = Locked<Int?>(nil)
    package let refusals = Locked(Refusals())
    let leaseGuard = LeaseGuard()
    /// Whether the heartbeat loop waits longer than usual, because the worker holds no operation.
    let isResting = Locked(false)
    package let events: PhotoEvents
    /// Why the last heartbeat failed; nil if it succeeded.
    package let redisProblem = Locked<String?>("Redis has not replied yet")
    let observer: WorkerObserver?

    package init(id: String, store: BatchStore, logger: Logger, observer: WorkerObserver? = nil) {
        self.id = id
        self.observer = observer
        self.store = store
        self.logger = logger
        events = PhotoEvents(worker: id, channel: store.keys.eventsChannel, connection: store.connection)
    }

    /// Schedules a claim for a priority after a random delay, so that the workers do not claim at the same time. The
    /// longest delay is 0.1 ms multiplied by `workers`, but never more than 20 ms.
    package func expectWork(_ priority: BatchPriority, workers: Int = 1) {
        let spread = Duration.microseconds(workers > 1 ? Int.random(in: 0...min(20_000, 100 * workers)) : 0)
        plan.withLock { $0.noticed(priority, due: .now + spread) }
        claimSignal.raise()
    }

    /// Handles a claim that got operations: their leases must be renewed at the usual interval from now on.
    func endRest() {
        if isResting.withLock({ $0 }) { heartbeatSignal.raise() }
    }

    /// Handles a failed call to Redis. The next call is a heartbeat, which detects whether Redis is reachable.
    func redisFailed(_ error: StoreError) {
        isConnected.withLock { $0 = false }
        // The heartbeat loop logs that Redis is unreachable or not ready. It does not log other errors.
        if !error.isPassing { logger.error("Redis command failed", ["detail": .text(error)]) }
        heartbeatSignal.raise()
    }
}

/// What the coordination requires of a worker.
package protocol CoordinatedWorker: AnyObject, Sendable {
    var coordination: Coordination { get }

    func read<Answer>(_ question: (WorkerState) -> Answer) -> Answer

    /// Applies an event to the worker's state, and performs those effects that the caller need not perform.
    /// - Returns: the effects that the caller must perform.
    func effects(of event: WorkerState.Event) -> [WorkerState.Effect]

    var demand: ClaimDemand { get }
    /// How much a claim for this priority and all higher priorities requests.
    func claimSize(from priority: BatchPriority) -> ClaimSize

    /// The operations whose leases are renewed; `stuck` is the number of operations whose file system does not answer.
    var renewed: (operations: [HeldOperation], stuck: Int) { get }
    /// Whether the worker cannot finish any operation because a file system does not answer. If so, it does not claim.
    var isStuck: Bool { get }

    /// The fields of the worker's hash in Redis.
    var facts: [(field: String, value: String)] { get }

    /// Prepares operations, and handles ``WorkerState/Event/prepared(_:)`` or ``WorkerState/Event/declined(_:)``.
    func prepare(_ operations: [ClaimedOperation])
    /// Refuses a batch temporarily.
    func refuse(_ batch: BatchID, _ reason: String)
    /// Writes the files that must be on disk before the operations are reported.
    /// - Returns: why the files of operations could not be written, and the operations whose files may be lost; neither
    ///   are reported.
    func writeFiles(of reports: [WorkerState.Report]) -> (failures: [HeldOperation: String], lost: Set<HeldOperation>)
    /// Removes the manifest files that other workers wrote for an operation that has ended in this worker.
    func removeOtherManifests(of held: HeldOperation, _ resources: any OperationResources)
    /// Called after Redis has accepted the release of an operation that is deferred until `due`.
    func noteDeferral(_ release: WorkerState.Release, until due: ContinuousClock.Instant)
    /// Removes the temporary files that a lost worker left for an operation. Redis asks for this only if the batch is
    /// cancelled, because then no worker claims the operation again. Does not block.
    func removeStaleFiles(of held: HeldOperation)
    /// Delivers due webhooks. Does not block.
    func deliver(_ webhooks: [DueWebhook])
}

extension CoordinatedWorker {
    private var logger: Logger { coordination.logger }

    /// Applies an event to the worker's state, and performs all effects. The event must not have effects that the
    /// caller must perform.
    package func handle(_ event: WorkerState.Event) {
        let left = effects(of: event)
        assert(left.isEmpty, "nobody performs \(left)")
    }

    /// After a pause of the process, blocks until the worker has asked Redis which leases it has; see ``LeaseGuard``.
    package func waitForLeases() {
        guard let lease = read({ $0.shortestLease }) else { return }
        coordination.leaseGuard.wait(lease: lease) { coordination.heartbeatSignal.raise() }
    }

    /// Handles operations that this worker no longer holds, according to Redis.
    func lost(_ lost: [HeldOperation]) {
        guard !lost.isEmpty else { return }
        var ending: Set<BatchID> = []
        for case .leaseLost(let held, let isExpected) in effects(of: .lost(lost)) {
            guard !isExpected else {
                logger.debug("operation no longer held", LogMetadata(held))
                ending.insert(held.batch)
                continue
            }
            logger.warning(
                "lease lost, this worker no longer holds the operation", key: held.batch.description,
                LogMetadata(held).adding(["fencingToken": .number(held.fencingToken)]))
            coordination.observer?(.leaseLost)
        }
        noteEnd(of: ending)
    }

    func ended(_ held: HeldOperation) {
        let wasLocal = effects(of: .ended(held)).contains { if case .left = $0 { true } else { false } }
        logger.debug("operation ended", LogMetadata(held))
        if wasLocal { noteEnd(of: [held.batch]) }
    }

    /// Logs each of these batches that has finished and of which this worker has no operation. Reads the batches from
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
