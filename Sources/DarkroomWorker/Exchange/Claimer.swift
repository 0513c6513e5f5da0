import DarkroomConcurrency
import DarkroomLogging
import DarkroomModel
import DarkroomStore
import Foundation

/// Claims operations while the worker has room, on a thread of its own.
final class Claimer: Sendable {
    private let core: WorkerCore
    private let plan = Locked(ClaimPlan(now: .now))
    /// How many workers heard the last hint that said so.
    private let workers = Locked(1)

    init(_ core: WorkerCore) { self.core = core }

    /// The batches that this worker does not take now, and why.
    var refused: [BatchID: String] {
        let barred = core.withLedger { $0.barred }
        return core.refusals.withLock { $0.reasons }.merging(barred) { _, why in why }
    }

    /// Something was published after which there may be something to claim.
    func heard(_ hint: Hint) {
        switch hint {
        case .work(let work):
            workers.withLock { $0 = work.workers }
            guard work.isFor(draw: Double.random(in: 0..<1)) else { return }
            expectWork(work.priority, workers: work.claimants)
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

    /// Redis may have lost what this worker told it, and hints were not heard: everything is told and looked for again.
    func beginAgain() {
        core.refusals.withLock { $0.tellAll() }
        expectWork(.veryHigh, workers: 1)
    }

    /// There may be work of a priority; `workers` look for it, and spread over 0.1 ms for each of them, 20 ms at most.
    func expectWork(_ priority: Priority, workers: Int) {
        let spread = Duration.microseconds(workers > 1 ? Int.random(in: 0...min(20_000, 100 * workers)) : 0)
        plan.withLock { $0.hinted(priority, due: .now + spread) }
        core.claimSignal.raise()
    }

    /// Runs until the worker stops.
    func run() {
        var number = 0
        var contexts: [BatchID: BatchContext] = [:]
        while !core.withLedger({ $0.isStopping }) {
            let wants = core.heartBeats.withLock { $0 } && !core.hanging.isAll ? wants() : .nothing
            let (claim, wake) = plan.withLock { plan in
                let now = ContinuousClock.now
                if let turn = core.ringsTurn.withLock({ $0.take() }) { plan.heard(turn: turn, now) }
                let claim = plan.next(now, wants)
                return (claim, plan.wake(now, wants))
            }
            guard let claim else {
                core.claimSignal.wait(timeout: max(.milliseconds(1), wake - .now))
                continue
            }
            number += 1
            let asked = core.withLedger { $0.hungryToServe }
            let unwanted = unwanted(claim)
            guard let claimed = perform(claim, number, without: unwanted) else {
                plan.withLock { $0.failed() }
                continue
            }
            core.withLedger { $0.arriving.formUnion(claimed.operations.map(\.held)) }
            core.lost(claimed.lost)
            for name in claimed.invalid {
                core.logger.error(
                    "operations left alone, no batch may have this id; something else than Darkroom wrote to Redis",
                    key: "invalid id", [.batch: .text(name)])
            }
            for (batch, damage) in claimed.damaged {
                refuse(batch, "it is damaged in Redis: \(damage)", until: .time)
            }
            if let first = claimed.operations.first?.held {
                let operations = claimed.operations.map { "\($0.held.batch)/\($0.held.number)" }
                core.logger.debug(
                    "operations claimed",
                    ["operations": .text(operations.joined(separator: " ")), "fence": .number(first.fence)])
            }
            let priorities = claimed.operations.map { claimed.steering[$0.held.batch]?.priority ?? .normal }
            let isSuspended = claimed.cluster.isSuspended || claimed.cluster.areDownloadsSuspended
            plan.withLock {
                $0.claimed(
                    claim, priorities, next: claimed.next, turn: claimed.turn,
                    sawAll: unwanted.isEmpty && !isSuspended)
            }
            // Nothing (more) of what is in focus is to be had until it moves.
            if let focus = claim.focus, claimed.operations.isEmpty {
                core.withLedger { if $0.focusToClaim == focus { $0.focusToClaim = nil } }
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

    /// The batches that a claim leaves out, beside those that Redis knows that the worker refuses.
    private func unwanted(_ claim: ClaimPlan.Claim) -> [BatchID] {
        let unwanted = core.withLedger { ledger in
            ledger.unwanted + ledger.barred.keys + (claim.isForHungry ? ledger.fed : [])
        }
        return Array(unwanted.prefix(RefusalChanges.limit))
    }

    /// Claims under `number`, again and again while Redis is away: the same number gets the same answer.
    private func perform(_ claim: ClaimPlan.Claim, _ number: Int, without unwanted: [BatchID]) -> Claimed? {
        let isMeasured = core.configuration.work == .nothing
        while !core.leaving.isSet, !core.claimsEnd.isSet {
            let held = core.renewed.operations
            let highest = core.withLedger { $0.steering.highest }
            let photos = core.withLedger { $0.photosToClaim(from: claim.lowest) }
            let refusals = core.refusals.withLock { $0.changes }
            let call = core.store.claim(
                worker: core.id, number: number, operations: claim.focus == nil ? 16 : 1,
                photos: isMeasured ? 4000 : max(1, min(photos, 4000)), lowest: claim.lowest, next: claim.next,
                focus: claim.focus, refusals: refusals, without: unwanted, held: Array(held.prefix(64))
            )
            do {
                switch try core.store.perform(call) {
                case .old: return nil
                case .claimed(let claimed):
                    core.refusals.withLock { $0.told(refusals, count: claimed.refusals) }
                    core.steer {
                        $0.answered(
                            claimed.version, sent: highest, cluster: claimed.cluster, batches: claimed.steering)
                    }
                    return claimed
                }
            } catch {
                // The heart finds out when Redis is back, and renews first.
                core.redisFailed(error)
                if error.code == .unexpectedReply {
                    // The same number would get the same answer. What was handed out comes back when its lease expires.
                    core.claimSignal.wait(timeout: .seconds(1))
                    return nil
                }
                repeat {
                    core.claimSignal.wait(timeout: .seconds(1))
                } while !core.leaving.isSet && !core.claimsEnd.isSet && !core.heartBeats.withLock { $0 }
            }
        }
        return nil
    }

    private func accept(_ operation: ClaimedOperation, _ contexts: inout [BatchID: BatchContext]) {
        let batch = operation.held.batch
        var end = Refusals.End.time
        let isContextCached = contexts[batch] != nil
        do {
            if contexts[batch] == nil, let facts = try core.store.facts(of: batch) {
                guard facts.damage.isEmpty else {
                    throw Refusal(reason: "it is damaged in Redis: \(facts.damage.joined(separator: ", "))")
                }
                end = .look(facts.options, taken: facts.outputTaken)
                contexts[batch] = try BatchContext(batch, facts.options, core.configuration, taken: facts.outputTaken)
            }
            guard let context = contexts[batch] else { return giveBack(operation) }  // the batch is gone
            end = .look(context.options, taken: context.taken)
            let folder = try openFolder(of: context)
            end = .time
            try core.accept(operation, context, folder)
        } catch {
            contexts[batch] = nil  // what was wrong with it may pass
            switch error {
            // The batch may have taken its folder back since its facts were read.
            case let refusal as Refusal where refusal.isOfHolder && isContextCached: return accept(operation, &contexts)
            case let refusal as Refusal: refuse(batch, refusal.reason, until: end)
            case let error as StoreError where error.isPassing: break
            default: refuse(batch, "operation \(operation.held.number): \(error)", until: .time)
            }
            giveBack(operation)
        }
    }

    private func giveBack(_ operation: ClaimedOperation) {
        core.withLedger { $0.giveBack(operation.held) }
        core.reportSignal.raise()
    }

    /// The folder of the batch's manifest, open; nil when the batch writes nothing.
    /// - Throws: ``Refusal`` when nothing can be written there.
    private func openFolder(of context: BatchContext) throws(Refusal) -> OpenFolder? {
        let folder = try context.openFolder()
        if let folder, let why = core.withLedger({ $0.bar(context.id, onDevice: UInt(folder.device)) }) {
            throw Refusal(reason: why)
        }
        return folder
    }

    // MARK: Refusals

    /// Leaves a batch to other workers until the reason is gone; said once.
    private func refuse(_ batch: BatchID, _ reason: String, until end: Refusals.End) {
        guard core.refusals.withLock({ $0.refuse(batch, reason, until: end, .now) }) else { return }
        core.outputSignal.raise()
        core.logger.notice(
            "batch is left to other workers", key: batch.description,
            [.batch: .text(batch), "detail": .text(reason)])
    }

    /// Looks whether the reasons of refusals are gone, without a claim. Blocks as folders do.
    func lookAtRefusals() {
        var isAnyWithdrawn = false
        var taken: [BatchID: Int] = [:]  // by another batch; when the refused one took the folder
        for (batch, end) in core.refusals.withLock({ $0.due(.now) }) {
            do throws(Refusal) {
                if case .look(let options, let taken) = end {
                    _ = try openFolder(of: BatchContext(batch, options, core.configuration, taken: taken))
                }
                core.refusals.withLock { $0.withdraw(batch) }
                isAnyWithdrawn = true
            } catch {
                core.refusals.withLock { $0.stands(batch, error.reason, .now) }
                if case .look(_, let number) = end, error.isOfHolder { taken[batch] = number }
            }
        }
        for batch in batchesThatTookTheirFolderBack(since: taken) {
            core.refusals.withLock { $0.withdraw(batch) }
            isAnyWithdrawn = true
        }
        if isAnyWithdrawn { expectWork(.veryHigh, workers: 1) }
    }

    /// Which of these batches have taken their output folder again since they took it as `taken` says. At most 100 are looked for.
    private func batchesThatTookTheirFolderBack(since taken: [BatchID: Int]) -> [BatchID] {
        let batches = taken.keys.shuffled().prefix(100)
        guard !batches.isEmpty, let now = try? core.store.outputsTaken(by: Array(batches)) else { return [] }
        return batches.filter { batch in (now[batch] ?? 0) > (taken[batch] ?? 0) }
    }

    /// Forgets refusals of batches that have been forgotten.
    func pruneRefusals() {
        let refused = Array(core.refusals.withLock { $0.reasons.keys })
        for start in stride(from: 0, to: refused.count, by: 1000) {
            let part = Array(refused[start..<min(start + 1000, refused.count)])
            guard let existing = try? core.store.existing(part) else { return }  // tried again the next time
            for batch in part where !existing.contains(batch) {
                core.refusals.withLock { $0.withdraw(batch) }
            }
        }
    }
}
