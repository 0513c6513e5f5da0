import DarkroomConcurrency
import DarkroomLogging
import DarkroomModel
import DarkroomStore
import Foundation

/// Claims operations while the worker has room, on a thread of its own.
final class Claimer: Sendable {
    private let core: WorkerCore
    private let plan = Locked(ClaimPlan(now: .now))
    private let refusals = Locked<[BatchID: (reason: String, until: ContinuousClock.Instant)]>([:])
    /// How many workers heard the last hint that said so.
    private let workers = Locked(1)

    private static let refusalLasts = Duration.seconds(10)

    init(_ core: WorkerCore) { self.core = core }

    /// The batches that this worker does not take now, and why.
    var refused: [BatchID: String] {
        let barred = core.withLedger { $0.barred }
        return refusals.withLock { $0.mapValues(\.reason) }.merging(barred) { _, why in why }
    }

    /// Something was published after which there may be something to claim.
    func heard(_ hint: Hint) {
        switch hint {
        case .work(let workers, let priority):
            self.workers.withLock { $0 = workers }
            expectWork(priority, workers: workers)
        case .cluster(let cluster, _):
            if !cluster.isSuspended, !cluster.areDownloadsSuspended {
                expectWork(.veryHigh, workers: workers.withLock { $0 })
            }
        case .batch(let id, let steering, _):
            core.withLedger { $0.noteFocus(of: id, steering) }
            if steering.focus != nil { core.claimSignal.raise() }
        case .photos:
            return
        }
    }

    /// An output can be written again: what was refused for its sake is claimed again at once.
    func outputIsFree() {
        refusals.withLock { $0 = [:] }
        expectWork(.veryHigh, workers: 1)
    }

    /// There may be work of a priority; `workers` heard it, and spread over 0.1 ms for each of them, 20 ms at most.
    func expectWork(_ priority: Priority, workers: Int) {
        let spread = Duration.microseconds(workers > 1 ? Int.random(in: 0...min(20_000, 100 * workers)) : 0)
        plan.withLock { $0.hinted(priority, due: .now + spread) }
        core.claimSignal.raise()
    }

    /// Runs until the worker stops.
    func run() {
        var number = 0
        var next = ""
        var contexts: [BatchID: BatchContext] = [:]
        while !core.withLedger({ $0.isStopping }) {
            let wants = core.heartBeats.withLock { $0 } && !core.hanging.isAll ? wants() : .nothing
            let (claim, wake) = plan.withLock { plan in
                let now = ContinuousClock.now
                let claim = plan.next(now, wants)
                return (claim, plan.wake(now, wants))
            }
            guard let claim else {
                core.claimSignal.wait(timeout: max(.milliseconds(1), wake - .now))
                continue
            }
            number += 1
            let asked = core.withLedger { $0.hungry }
            guard let claimed = perform(claim, number, next: claim.isOrdinary ? next : "") else {
                plan.withLock { $0.failed() }
                continue
            }
            core.withLedger { $0.arriving.formUnion(claimed.operations.map(\.held)) }
            core.lost(claimed.lost)
            if let first = claimed.operations.first?.held {
                let operations = claimed.operations.map { "\($0.held.batch)/\($0.held.number)" }
                core.logger.debug(
                    "operations claimed",
                    ["operations": .text(operations.joined(separator: " ")), "fence": .number(first.fence)])
            }
            let priorities = claimed.operations.map { claimed.steering[$0.held.batch]?.priority ?? .normal }
            if claim.isOrdinary { next = claimed.next }
            plan.withLock { $0.claimed(claim, priorities, goesOn: !claimed.next.isEmpty) }
            // Nothing (more) of what is in focus is to be had until it moves.
            if let focused = wants.focused, claim.lowest <= focused, claimed.operations.isEmpty {
                core.withLedger { $0.focusToClaim = nil }
            }
            let ids = Set(claimed.operations.map(\.held.batch))
            if claim.isForHungry { core.withLedger { $0.served(ids, asked: asked) } }
            contexts = contexts.filter { id, _ in ids.contains(id) || contexts.count <= 64 }
            for operation in claimed.operations { accept(operation, &contexts) }
        }
    }

    /// What this worker has room for.
    private func wants() -> ClaimPlan.Wants {
        guard core.configuration.work == .photos else {
            return ClaimPlan.Wants(lowest: core.withLedger { $0.held.count < 64 } ? .veryLow : nil)
        }
        return core.withLedger { $0.wants }
    }

    /// Claims under `number`, again and again while Redis is away: the same number gets the same answer.
    private func perform(_ claim: ClaimPlan.Claim, _ number: Int, next: String) -> Claimed? {
        refusals.withLock { refusals in refusals = refusals.filter { $0.value.until > .now } }
        let refused = Array(refused.keys.prefix(100))
        let isMeasured = core.configuration.work == .nothing
        while !core.leaving.isSet, !core.claimsEnd.isSet {
            let held = core.renewed.operations
            let known = core.withLedger { $0.steering.known }
            let (photos, unwanted) = core.withLedger { ledger in
                (ledger.photosToClaim(from: claim.lowest), ledger.unwanted + (claim.isForHungry ? ledger.fed : []))
            }
            let call = core.store.claim(
                worker: core.id, number: number, operations: claim.isFocused ? 1 : 16,
                photos: isMeasured ? 4000 : max(1, min(photos, 4000)), lowest: claim.lowest, next: next,
                focused: claim.isFocused, refused: Array((refused + unwanted).prefix(100)), held: Array(held.prefix(64))
            )
            do {
                switch try core.store.perform(call) {
                case .old: return nil
                case .claimed(let claimed):
                    core.steer {
                        $0.answered(
                            claimed.version, sent: known, cluster: claimed.cluster, batches: claimed.steering)
                    }
                    return claimed
                }
            } catch {
                // The heart finds out when Redis is back, and renews first.
                core.redisFailed(error)
                repeat {
                    core.claimSignal.wait(timeout: .seconds(1))
                } while !core.leaving.isSet && !core.claimsEnd.isSet && !core.heartBeats.withLock { $0 }
            }
        }
        return nil
    }

    private func accept(_ operation: ClaimedOperation, _ contexts: inout [BatchID: BatchContext]) {
        let batch = operation.held.batch
        do {
            let context = try contexts[batch] ?? makeContext(batch)
            contexts[batch] = context
            let folder = try context.openFolder()
            if let folder, let why = core.withLedger({ $0.bar(batch, onDevice: UInt(folder.device)) }) {
                throw Refusal(reason: why)
            }
            try core.accept(operation, context, folder)
        } catch {
            contexts[batch] = nil  // what was wrong with it may pass
            refuse(batch, (error as? Refusal)?.reason ?? "operation \(operation.held.number): \(error)")
            core.withLedger { $0.giveBack(operation.held) }
            core.reportSignal.raise()
        }
    }

    /// Leaves a batch to other workers for a while; said once.
    private func refuse(_ batch: BatchID, _ reason: String) {
        let isNews = refusals.withLock { refusals in
            defer { refusals[batch] = (reason, .now + Self.refusalLasts) }
            return refusals[batch] == nil
        }
        guard isNews else { return }
        core.logger.notice(
            "batch is left to other workers", key: batch.description,
            [.batch: .text(batch), "detail": .text(reason)])
    }

    private func makeContext(_ batch: BatchID) throws -> BatchContext {
        guard let facts = try core.store.facts(of: batch) else { throw Refusal(reason: "it is gone") }
        return try BatchContext(batch, facts.options, core.configuration)
    }
}
