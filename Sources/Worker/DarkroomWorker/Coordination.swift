import DarkroomConcurrency
import DarkroomLogging
import DarkroomModel
import DarkroomStore
import DarkroomWorkerState

/// The store and the signals that the threads of the coordination share.
final class Coordination: Sendable {
    let id: String
    let store: BatchStore
    let logger: Logger
    /// Raised when the worker may be able to take more operations, or when there may be operations to claim.
    let claimSignal = Signal()
    /// Raised when there may be operations to report or to release.
    let reportSignal = Signal()
    /// Raised when a heartbeat must be sent at once.
    let heartbeatSignal = Signal()
    /// Set when the worker ends at once, without releasing its operations.
    let leaving = Latch()
    /// Set when no further claim may be sent.
    let claimsEnd = Latch()
    /// Whether the last heartbeat succeeded. After an outage of Redis, the worker first renews its leases, then
    /// reports, then claims.
    let isConnected = Locked(false)
    let plan = Locked(ClaimPlan(now: .now))
    /// The turn counter of the ready queues in the last heartbeat reply. The claim loop reads this value and sets it to
    /// nil.
    let readyTurn = Locked<Int?>(nil)
    let refusals = Locked(Refusals())
    let leaseGuard = LeaseGuard()
    /// Whether the heartbeat loop waits longer than usual, because the worker holds no operation.
    let isResting = Locked(false)
    let events: PhotoEvents
    /// Why the last heartbeat failed; nil if it succeeded.
    let redisProblem = Locked<String?>("Redis has not replied yet")
    let observer: WorkerObserver?

    init(id: String, store: BatchStore, logger: Logger, observer: WorkerObserver?) {
        self.id = id
        self.observer = observer
        self.store = store
        self.logger = logger
        events = PhotoEvents(worker: id, channel: store.keys.eventsChannel, connection: store.connection)
    }

    /// Schedules a claim for a priority after a random delay, so that the workers do not claim at the same time. The
    /// longest delay is 0.1 ms multiplied by `workers`, but never more than 20 ms.
    func expectWork(_ priority: BatchPriority, workers: Int = 1) {
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

extension WorkerCore {
    private var logger: Logger { coordination.logger }

    /// Applies an event to the worker's state, and performs all effects. The event must not have effects that the
    /// caller must perform.
    func handle(_ event: WorkerState.Event) {
        let left = effects(of: event)
        assert(left.isEmpty, "nobody performs \(left)")
    }

    /// After a pause of the process, blocks until the worker has asked Redis which leases it has; see ``LeaseGuard``.
    func waitForLeases() {
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

    /// Logs the end of each of these batches that has finished, unless this worker has an operation of the batch. Reads
    /// the batches from Redis, and logs nothing if they cannot be read.
    func noteEnd(of batches: Set<BatchID>) {
        guard logger.isEnabled(.info) else { return }
        let left = read { state in batches.filter { !state.hasOperation(of: $0) } }
        guard !left.isEmpty, let facts = try? coordination.store.facts(of: left.sorted()) else { return }
        for batch in facts where batch.state == .finished {
            logger.info("batch finished", LogMetadata(batch))
        }
    }
}
