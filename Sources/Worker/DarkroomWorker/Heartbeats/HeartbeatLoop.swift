import DarkroomConcurrency
import DarkroomLogging
import DarkroomStore
import DarkroomWorkerState

/// Sends the heartbeats of a worker on a separate thread, so that image processing does not delay them.
final class HeartbeatLoop: Sendable {
    private let worker: WorkerCore
    private let stopped = Latch()
    private let loggedStuck = Locked(0)
    private let loggedError = Locked("")
    private let sentFacts = Locked(SentFacts())

    init(_ worker: WorkerCore) { self.worker = worker }

    private var coordination: Coordination { worker.coordination }

    /// Ends the thread after the current heartbeat.
    func stop() {
        stopped.set()
        coordination.heartbeatSignal.raise()
    }

    func run() {
        var isAway = false
        var isRepairing = false
        var rest: Duration?
        defer { coordination.leaseGuard.end() }
        while !stopped.isSet {
            let began = ContinuousClock.now
            var hasMore = false
            do {
                (hasMore, rest) = try beat(&isRepairing)
                if isAway {
                    coordination.logger.info("Redis is back")
                    // -1 differs from every turn counter, so an idle worker claims at once.
                    coordination.readyTurn.withLock { $0 = -1 }
                }
                isAway = false
                coordination.redisProblem.withLock { $0 = nil }
                coordination.isConnected.withLock { $0 = true }
                // Wakes the report loop, which reports all changes every 3 s, and the claim loop.
                coordination.reportSignal.raise()
                coordination.claimSignal.raise()
            } catch {
                rest = nil
                sentFacts.withLock { $0.forget() }
                if !isAway {
                    coordination.logger.warning("Redis cannot be used, waiting until it can", ["detail": .text(error)])
                }
                isAway = true
                coordination.redisProblem.withLock { $0 = "Redis cannot be used: \(error)" }
                coordination.isConnected.withLock { $0 = false }
                coordination.claimSignal.raise()
            }
            coordination.leaseGuard.asked(at: began)
            coordination.logger.writeDue()
            if hasMore { continue }
            // Set before the worker state is read: a claim that gets operations after the reading ends the rest.
            let wasResting = coordination.isResting.withLock { $0 }
            coordination.isResting.withLock { $0 = rest != nil }
            let (lease, isIdle) = worker.read { ($0.shortestLease, $0.held.isEmpty) }
            let usual = Self.interval(shortestLease: lease)
            let resting = isIdle ? (rest ?? .zero) * Self.phase(wasResting) : .zero
            coordination.heartbeatSignal.wait(timeout: isAway ? Self.retryInterval : max(usual, resting))
            // Change notices within 20 ms cause only one heartbeat.
            while !stopped.isSet, .now < began + Self.shortestInterval {
                coordination.heartbeatSignal.wait(timeout: began + Self.shortestInterval - .now)
            }
        }
    }

    private static let shortestInterval = Duration.milliseconds(20)

    /// The time between two heartbeats: a fifth of the shortest lease, at most 3 s.
    ///
    /// An outage of Redis uses up at most 3 s of a lease, however long it lasts. The sum of these 3 s, the time since
    /// the last renewal, and the time that this worker needs to reconnect (``retryInterval`` and the attempts of the
    /// connection) must be less than the shortest possible lease, 6 s.
    static func interval(shortestLease: Duration?) -> Duration {
        shortestLease.map { min(.seconds(3), $0 / 5) } ?? .seconds(3)
    }

    /// The time until the next heartbeat of a worker that holds no operation and whose facts do not change: 12 s, or
    /// less with few workers. Each heartbeat does a step of the maintenance, which ages leases by at most 3 s.
    static func rest(workers: Int) -> Duration { min(.seconds(12), max(.seconds(3), .milliseconds(500) * workers)) }

    /// The fraction of its rest that a worker waits, chosen at random. Otherwise workers that become idle at the same
    /// time would always send their heartbeats at the same time, with no maintenance between these times.
    private static func phase(_ isResting: Bool) -> Double { Double.random(in: isResting ? 0.85...1 : 0...1) }

    /// The time that the connection waits for a reply. If the connection is lost without an error, the leases must
    /// still be renewed before the shortest possible lease (6 s) expires. Therefore the sum of the time since the last
    /// renewal, this timeout and the time for a new connection must be less than 6 s.
    static let replyTimeout = Duration.seconds(3)

    /// The time between a failed heartbeat and the next one.
    static let retryInterval = Duration.milliseconds(250)

    /// Sends a heartbeat and applies the reply. Then, if a consistency check is due, checks whether the data of batches
    /// are consistent.
    /// - Parameter isRepairing: whether this worker has begun a consistency check and must continue it.
    /// - Returns: `hasMore`: whether the next heartbeat should follow at once. `rest`: the time until the next
    ///   heartbeat if the worker stays idle; nil if the worker is not idle.
    private func beat(_ isRepairing: inout Bool) throws(StoreError) -> (hasMore: Bool, rest: Duration?) {
        let highest = worker.read { $0.controlsVersion }
        let (held, stuck) = worker.renewed
        if stuck > 0, stuck != loggedStuck.withLock({ $0 }) {
            coordination.logger.error(
                "a file system does not answer, leases of operations are not renewed", ["operations": .number(stuck)])
        }
        loggedStuck.withLock { $0 = stuck }
        let message = sentFacts.withLock { $0.message(worker.facts, isIdle: held.isEmpty && stuck == 0) }
        var calls: [ScriptCall<HeartbeatReply>] = []
        for start in stride(from: 0, through: max(0, held.count - 1), by: 64) {
            let part = Array(held[start..<min(start + 64, held.count)])
            let facts = start == 0 ? message.facts : []
            calls.append(coordination.store.heartbeat(worker: coordination.id, facts: facts, held: part))
        }
        let replies = try coordination.store.perform(calls)
        sentFacts.withLock { $0.sent(message, workers: replies.last?.workers ?? 0) }
        worker.lost(replies.flatMap(\.lost))
        let parts = replies.enumerated().map { place, reply in
            // The first reply may lack a change that was made between two parts of the heartbeat.
            let isLast = place == replies.count - 1
            return ControlsAnswer(
                version: reply.version, sent: highest, cluster: reply.cluster, batches: reply.controls,
                completeVersion: isLast ? replies[0].version : nil)
        }
        worker.handle(.answered(parts))
        if let turn = replies.last?.turn { coordination.readyTurn.withLock { $0 = turn } }
        let lost = Set(replies.flatMap(\.lost))
        for stateCodes in replies.flatMap(\.stateCodes) {
            let meant = held.first { $0.batch == stateCodes.batch && $0.number == stateCodes.number }
            if let meant, !lost.contains(meant) { worker.handle(.stateCodes(stateCodes.stateCodes, of: meant)) }
        }
        for left in replies.compactMap(\.staleFiles) { worker.removeStaleFiles(of: left) }
        // Every reply lists the same webhooks, so the last reply is enough.
        if let webhooks = replies.last?.webhooks, !webhooks.isEmpty { worker.deliver(webhooks) }
        if replies.contains(where: \.isRepairDue) || isRepairing {
            let steps = try coordination.store.repair(steps: BatchStore.repairStepsAtOnce)
            for batch in steps.repaired {
                coordination.logger.warning(
                    "repaired a batch whose data in Redis contradicted each other", [.batch: .text(batch)])
            }
            for skipped in steps.skipped where skipped.error != loggedError.withLock({ $0 }) {
                // Later heartbeats may find the same error, which is logged once.
                loggedError.withLock { $0 = skipped.error }
                coordination.logger.error(
                    "cannot check whether the data of a batch contradict each other; a later check begins anew",
                    [.batch: .text(skipped.batch?.description ?? "unknown"), "error": .text(skipped.error)])
            }
            isRepairing = steps.hasMore
            // The next heartbeat continues after the shortest interval, so that repairs do not occupy Redis all the
            // time.
            if isRepairing { coordination.heartbeatSignal.raise() }
        }
        return (
            replies.contains { $0.hasMore },
            isRepairing ? nil : message.rest.map { min($0, Self.rest(workers: replies.last?.workers ?? 0)) }
        )
    }
}
