import DarkroomConcurrency
import DarkroomLogging
import DarkroomModel
import DarkroomOutput
import DarkroomStore
import DarkroomWorkerState
import Foundation

/// Claims operations while the worker has room, on a thread of its own.
final class Claimer: Sendable {
    private let core: WorkerCore
    private let plan = Locked(ClaimPlan(now: .now))
    /// How many workers heard the last hint that said so.
    private let workers = Locked(1)
    /// What is known of batches whose operations were claimed.
    private let contexts = Locked<[BatchID: BatchContext]>([:])
    /// Looks at the folders of batches.
    private let folders: FolderCalls

    init(_ core: WorkerCore) {
        self.core = core
        folders = FolderCalls(
            patience: core.configuration.claimPatience,
            roots: core.configuration.outputsUnder + core.configuration.transfer.fileFolders)
    }

    /// The batches that this worker does not take now, and why.
    var refused: [BatchID: String] {
        let blocked = core.read { $0.blockedBatches }
        return core.refusals.withLock { $0.reasons }.merging(blocked) { _, why in why }
    }

    /// Something was published after which there may be something to claim.
    func noticed(_ notice: ChangeNotice) {
        switch notice {
        case .work(let work):
            workers.withLock { $0 = work.workers }
            guard work.isFor(draw: Double.random(in: 0..<1)) else { return }
            expectWork(work.priority, workers: work.claimants)
        case .cluster(let cluster, _):
            if !cluster.isSuspended, !cluster.areDownloadsSuspended {
                expectWork(.veryHigh, workers: workers.withLock { $0 })
            }
        case .batch, .photos:
            return
        }
    }

    /// Redis may have lost refusals of this worker, and hints were missed: the next claim sends all refusals and looks for
    /// all work.
    func beginAgain() {
        core.refusals.withLock { $0.tellAll() }
        expectWork(.veryHigh, workers: 1)
    }

    /// There may be work of a priority; `workers` look for it, and spread over 0.1 ms for each of them, 20 ms at most.
    func expectWork(_ priority: BatchPriority, workers: Int) {
        let spread = Duration.microseconds(workers > 1 ? Int.random(in: 0...min(20_000, 100 * workers)) : 0)
        plan.withLock { $0.hinted(priority, due: .now + spread) }
        core.claimSignal.raise()
    }

    /// Runs until the worker stops.
    func run() {
        var number = 0
        defer { folders.close() }
        while !core.read({ $0.isStopping }) {
            let wants = core.heartBeats.withLock { $0 } && !core.hanging.isAll ? wants() : ClaimDemand()
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
            let scope = scope(claim)
            let unwanted = unwanted(claim)
            guard let claimed = perform(claim, number, without: unwanted) else {
                plan.withLock { $0.failed() }
                continue
            }
            core.handle(.claimed(claimed.operations.map(\.held)))
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
            let ids = Set(claimed.operations.map(\.held.batch))
            core.handle(.claimAnswered(scope, ids))
            contexts.withLock { contexts in
                if contexts.count > 64 { contexts = contexts.filter { ids.contains($0.key) } }
            }
            takeUp(claimed.operations)
        }
    }

    /// What this worker has room for.
    private func wants() -> ClaimDemand {
        guard core.configuration.work == .photos else {
            return ClaimDemand(lowest: core.read { $0.held.count < 64 } ? .veryLow : nil)
        }
        return core.read { $0.demand }
    }

    private func scope(_ claim: ClaimPlan.Claim) -> ClaimScope {
        if let focus = claim.focus { return .focus(focus) }
        return claim.isForDrained ? .drained(core.read { $0.claimableDrained }) : .all
    }

    /// The batches that a claim leaves out, beside those that Redis knows that the worker refuses.
    private func unwanted(_ claim: ClaimPlan.Claim) -> [BatchID] {
        let excluded = core.read { $0.excludedFromClaims(isForDrained: claim.isForDrained) }
        return Array(excluded.prefix(RefusalChanges.limit))
    }

    /// Claims under `number`, again and again while Redis is away: the same number gets the same answer.
    private func perform(_ claim: ClaimPlan.Claim, _ number: Int, without unwanted: [BatchID]) -> Claimed? {
        let isMeasured = core.configuration.work == .nothing
        while !core.leaving.isSet, !core.claimsEnd.isSet {
            let held = core.renewed.operations
            let highest = core.read { $0.controlsVersion }
            let photos = core.read { $0.photosToClaim(from: claim.lowest) }
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
                    core.handle(
                        .answered(
                            ControlsAnswer(
                                version: claimed.version, sent: highest, cluster: claimed.cluster,
                                batches: claimed.steering)))
                    return claimed
                }
            } catch {
                // The heart finds out when Redis is back, and renews first.
                core.redisFailed(error)
                if error.code == .unexpectedReply {
                    // Redis answers a repeated claim number with the same reply. The operations of this reply are queued again
                    // when their leases expire.
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

    // MARK: Taking up

    /// Takes up operations that were claimed, batch by batch. A batch whose file system does not answer is left to others until
    /// it does, and the thread that waits for the answer goes on then.
    private func takeUp(_ operations: [ClaimedOperation]) {
        var parts: [(batch: BatchID, operations: [(ClaimedOperation, call: Int)])] = []
        for operation in operations {
            let call = core.fileCalls.beginClaim(of: operation.held)
            if parts.last?.batch != operation.held.batch { parts.append((operation.held.batch, [])) }
            parts[parts.count - 1].operations.append((operation, call))
        }
        for (batch, part) in parts {
            perform(onHang: { [self] in refuse(batch, Self.noAnswer($0), until: .answer($0)) }) { [self] call in
                for (operation, number) in part {
                    accept(operation, call)
                    core.fileCalls.end(number)
                }
            }
        }
    }

    /// Runs `body`, which may access folders that do not answer, see ``FolderCalls/perform(onHang:onAnswer:_:)``.
    @discardableResult
    func perform(
        onHang: (String) -> Void = { _ in }, _ body: @escaping @Sendable (FolderCalls.Call) -> Void
    ) -> String? {
        let onAnswer = { @Sendable [self] (mount: String) in
            core.refusals.withLock { $0.answers(mount) }
            expectWork(.veryHigh, workers: 1)
        }
        return folders.perform(onHang: onHang, onAnswer: onAnswer, body)
    }

    /// The mount point of a folder that does not answer; nil where all do as far as is known.
    func hungMount(of paths: [String]) -> String? { folders.hungMount(of: paths) }

    private static func noAnswer(_ mount: String) -> String { "the file system at \(mount) does not answer" }

    private func accept(_ operation: ClaimedOperation, _ call: FolderCalls.Call) {
        let batch = operation.held.batch
        call.looks(at: "")
        // Refused a moment ago, for another operation of the same claim.
        if core.refusals.withLock({ $0.contains(batch) }) { return giveBack(operation) }
        var end = Refusals.End.time
        let cached = contexts.withLock { $0[batch] }
        do {
            var known = cached.map { (options: $0.options, taken: $0.taken) }
            if known == nil, let facts = try core.store.facts(of: batch) {
                guard facts.damage.isEmpty else {
                    throw Refusal(reason: "it is damaged in Redis: \(facts.damage.joined(separator: ", "))")
                }
                known = (facts.options, facts.outputTaken)
            }
            guard let (options, taken) = known else { return giveBack(operation) }  // the batch is gone
            let paths = options.folders
            if let mount = hungMount(of: paths) {
                refuse(batch, Self.noAnswer(mount), until: .answer(mount))
                // It may have answered meanwhile.
                if hungMount(of: paths) != mount { core.refusals.withLock { $0.answers(mount) } }
                return giveBack(operation)
            }
            end = .look(options, taken: taken)
            let context =
                try cached
                ?? BatchContext(batch, options, core.configuration, taken: taken, looking: call.looks(at:))
            contexts.withLock { $0[batch] = context }
            call.looks(at: options.output.isEmpty ? options.originals : options.output)
            let folder = try openFolder(of: context)
            end = .time
            try core.accept(operation, context, folder)
        } catch {
            contexts.withLock { $0[batch] = nil }  // what was wrong with it may pass
            switch error {
            // The batch may have taken its folder back since its facts were read.
            case let refusal as Refusal where refusal.isOfHolder && cached != nil: return accept(operation, call)
            case let refusal as Refusal: refuse(batch, refusal.reason, until: end)
            case let error as StoreError where error.isPassing: break
            default: refuse(batch, "operation \(operation.held.number): \(error)", until: .time)
            }
            giveBack(operation)
        }
    }

    private func giveBack(_ operation: ClaimedOperation) {
        core.handle(.declined(operation.held))
    }

    /// The folder of the batch's manifest, open; nil when the batch writes nothing.
    /// - Throws: ``Refusal`` when nothing can be written there.
    private func openFolder(of context: BatchContext) throws(Refusal) -> OpenFolder? {
        let folder = try context.openFolder()
        guard let folder else { return nil }
        for case .outputBlocked(let reason) in core.handle(.outputOpened(context.id, device: UInt(folder.device))) {
            throw Refusal(reason: reason)
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
        let due = core.refusals.withLock { $0.due(.now) }
        guard let over = batchesThatAreOver(due) else { return }  // tried again at the next look
        for (batch, end) in due {
            guard !over.contains(batch) else {
                core.refusals.withLock { $0.withdraw(batch) }
                continue
            }
            do throws(Refusal) {
                if case .look(let options, let taken) = end { try look(batch, options, taken: taken) }
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

    /// Looks whether a refused batch can be done now.
    /// - Throws: ``Refusal`` when it cannot.
    private func look(_ batch: BatchID, _ options: BatchOptions, taken: Int) throws(Refusal) {
        if let mount = hungMount(of: options.folders) { throw Refusal(reason: Self.noAnswer(mount)) }
        let found = Locked<Refusal?>(nil)
        let hung = perform { [self] call in
            do throws(Refusal) {
                let context = try BatchContext(
                    batch, options, core.configuration, taken: taken, looking: call.looks(at:))
                call.looks(at: options.output)
                _ = try openFolder(of: context)
            } catch {
                found.withLock { $0 = error }
            }
        }
        if let hung { throw Refusal(reason: Self.noAnswer(hung)) }
        if let refusal = found.withLock({ $0 }) { throw refusal }
    }

    /// Which of these batches are over, of those for which a look would make folders.
    /// - Returns: Nil when Redis cannot be asked.
    private func batchesThatAreOver(_ due: [(batch: BatchID, end: Refusals.End)]) -> Set<BatchID>? {
        let making = due.filter { if case .look(let options, _) = $0.end { options.remoteOutput } else { false } }
        guard !making.isEmpty else { return [] }
        let batches = making.map(\.batch)
        return (try? core.store.unfinished(batches)).map { Set(batches).subtracting($0) }
    }

    /// Which of these batches have taken their output folder again since they took it as `taken` says. At most 100 are looked for.
    private func batchesThatTookTheirFolderBack(since taken: [BatchID: Int]) -> [BatchID] {
        let batches = taken.keys.shuffled().prefix(100)
        // If Redis cannot be asked, the refusals stand until the next look.
        guard !batches.isEmpty, let now = try? core.store.outputsTaken(by: Array(batches)) else { return [] }
        return batches.filter { batch in (now[batch] ?? 0) > (taken[batch] ?? 0) }
    }

    /// Forgets refusals of batches that are over.
    func pruneRefusals() {
        let refused = core.refusals.withLock { $0.batches }
        for start in stride(from: 0, to: refused.count, by: 1000) {
            let part = Array(refused[start..<min(start + 1000, refused.count)])
            guard let unfinished = try? core.store.unfinished(part) else { return }  // tried again the next time
            for batch in part where !unfinished.contains(batch) {
                core.refusals.withLock { $0.withdraw(batch) }
            }
        }
    }
}

extension BatchOptions {
    /// The folders that a worker looks at for the batch; "" for one that the batch does not have.
    fileprivate var folders: [String] { [output, originals, photosFolder] }
}
