import DarkroomConcurrency
import DarkroomLogging
import DarkroomModel
import DarkroomStore
import DarkroomWorkerState

/// Claims operations on a separate thread, while the worker can take more operations.
final class ClaimLoop: Sendable {
    private let worker: WorkerCore
    /// The number of workers that received the last notice of new work.
    private let workers = Locked(1)

    init(_ worker: WorkerCore) { self.worker = worker }

    private var coordination: Coordination { worker.coordination }

    /// Handles a change notice. If there may be new operations to claim, schedules a claim.
    func noticed(_ notice: ChangeNotice) {
        switch notice {
        case .work(let work):
            workers.withLock { $0 = work.workers }
            guard work.isFor(draw: Double.random(in: 0..<1)) else { return }
            coordination.expectWork(work.priority, workers: work.claimants)
        case .cluster(let cluster, _):
            if !cluster.isSuspended, !cluster.areDownloadsSuspended {
                coordination.expectWork(.veryHigh, workers: workers.withLock { $0 })
            }
        case .idle, .batch, .photos:
            return
        }
    }

    /// Handles a disconnection. The worker may have missed notices, and Redis may have lost the refusals of the worker,
    /// so the next claim sends all refusals and takes operations of every priority.
    func noticesMissed() {
        coordination.refusals.withLock { $0.sendAll() }
        coordination.expectWork(.veryHigh)
    }

    func run() {
        var number = 0
        while !worker.read({ $0.isStopping }) {
            let isReady = coordination.isConnected.withLock { $0 } && !worker.isStuck
            if !isReady { worker.handle(.claimsPaused) }
            let demand = isReady ? worker.demand : ClaimDemand()
            let (claim, wake) = coordination.plan.withLock { plan in
                let now = ContinuousClock.now
                if let turn = coordination.readyTurn.withLock({ $0.take() }) { plan.observed(turn: turn, now) }
                let claim = plan.next(now, demand)
                return (claim, plan.wake(now, demand))
            }
            guard let claim else {
                coordination.claimSignal.wait(timeout: max(.milliseconds(1), wake - .now))
                continue
            }
            number += 1
            perform(claim, number)
        }
    }

    private func perform(_ claim: ClaimPlan.Claim, _ number: Int) {
        let scope = scope(claim)
        let excluded = Array(
            worker.read { $0.excludedFromClaims(isForDrained: claim.isForDrained) }.prefix(RefusalChanges.limit))
        guard let claimed = send(claim, number, without: excluded) else {
            coordination.plan.withLock { $0.failed() }
            return
        }
        worker.handle(.claimed(claimed.operations.map(\.held)))
        if !claimed.operations.isEmpty { coordination.endRest() }
        worker.lost(claimed.lost)
        for name in claimed.invalid {
            coordination.logger.error(
                "operations ignored: no batch may have this id; a program other than Darkroom wrote to Redis",
                key: "invalid id", [.batch: .text(name)])
        }
        for (batch, damage) in claimed.damaged { worker.refuse(batch, "it is damaged in Redis: \(damage)") }
        if let first = claimed.operations.first?.held {
            let operations = claimed.operations.map { "\($0.held.batch)/\($0.held.number)" }
            coordination.logger.debug(
                "operations claimed",
                [
                    "operations": .text(operations.joined(separator: " ")),
                    "fencingToken": .number(first.fencingToken),
                ])
        }
        let priorities = claimed.operations.map { claimed.controls[$0.held.batch]?.priority ?? .normal }
        let isSuspended = claimed.cluster.isSuspended || claimed.cluster.areDownloadsSuspended
        coordination.plan.withLock {
            $0.claimed(
                claim, priorities, next: claimed.next, turn: claimed.turn, sawAll: excluded.isEmpty && !isSuspended,
                again: claimed.again)
        }
        worker.handle(.claimAnswered(scope, Set(claimed.operations.map(\.held.batch))))
        worker.prepare(claimed.operations)
    }

    private func scope(_ claim: ClaimPlan.Claim) -> ClaimScope {
        if let focus = claim.focus { return .focus(focus) }
        return claim.isForDrained ? .drained(worker.read { $0.claimableDrained }) : .all
    }

    /// Sends a claim, and repeats it while Redis is unreachable. If Redis receives the same `number` again, it sends
    /// the same reply again.
    private func send(_ claim: ClaimPlan.Claim, _ number: Int, without excluded: [BatchID]) -> Claimed? {
        while !coordination.leaving.isSet, !coordination.claimsEnd.isSet {
            let highest = worker.read { $0.controlsVersion }
            let refusals = coordination.refusals.withLock { $0.changes }
            let size = worker.claimSize(from: claim.lowest)
            let call = coordination.store.claim(
                worker: coordination.id, number: number, operations: claim.focus == nil ? size.operations : 1,
                photos: size.photos, lowest: claim.lowest,
                next: claim.next, focus: claim.focus, refusals: refusals, without: excluded,
                held: Array(worker.renewed.operations.prefix(64)))
            do {
                switch try coordination.store.perform(call) {
                case .old: return nil
                case .claimed(let claimed):
                    coordination.refusals.withLock { $0.sent(refusals, count: claimed.refusals) }
                    worker.handle(
                        .answered([
                            ControlsAnswer(
                                version: claimed.version, sent: highest, cluster: claimed.cluster,
                                batches: claimed.controls)
                        ]))
                    return claimed
                }
            } catch {
                // The heartbeat loop detects when Redis is reachable again, and renews the leases before this loop
                // claims.
                coordination.redisFailed(error)
                if error.code == .unexpectedReply {
                    // A retry does not help: Redis would send the same reply again. The operations of the reply are
                    // queued again when their leases expire.
                    coordination.claimSignal.wait(timeout: .seconds(1))
                    return nil
                }
                repeat {
                    coordination.claimSignal.wait(timeout: .seconds(1))
                } while !coordination.leaving.isSet && !coordination.claimsEnd.isSet
                    && !coordination.isConnected.withLock { $0 }
            }
        }
        return nil
    }
}
