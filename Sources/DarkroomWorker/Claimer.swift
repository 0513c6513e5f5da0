import DarkroomConcurrency
import DarkroomModel
import DarkroomStore
import Foundation

/// Claims operations while the worker has room, on a thread of its own.
final class Claimer: Sendable {
    private let core: WorkerCore
    private let refusals = Locked<[BatchID: (reason: String, until: ContinuousClock.Instant)]>([:])
    /// When to claim because "work available" was heard: soon, and 100 ms later, for those that the hint left out.
    private let hinted = Locked<[ContinuousClock.Instant]>([])

    private static let refusalLasts = Duration.seconds(10)
    private static let idleInterval = Duration.seconds(3)

    init(_ core: WorkerCore) { self.core = core }

    /// The batches that this worker does not take now, and why.
    var refused: [BatchID: String] { refusals.withLock { $0.mapValues(\.reason) } }

    /// "Work available" was published; `workers` heard it, and spread over 0.1 ms for each of them, 20 ms at most.
    func hint(workers: Int) {
        let spread = Duration.microseconds(Int.random(in: 0...min(20_000, 100 * max(1, workers))))
        hinted.withLock { $0 = [.now + spread, .now + spread + .milliseconds(100)] }
        core.claimSignal.raise()
    }

    /// Runs until the worker stops.
    func run() {
        var number = 0
        var next = ""
        var contexts: [BatchID: BatchContext] = [:]
        var mayHaveMore = true  // the last claim handed something out, or there was none yet
        var nextAttempt = ContinuousClock.now
        while !core.withLedger({ $0.isStopping }) {
            let photos = photosWanted()
            guard photos > 0, core.heartBeats.withLock({ $0 }) else {
                core.claimSignal.wait(timeout: Self.idleInterval)
                continue
            }
            guard isHinted() || mayHaveMore || .now >= nextAttempt else {
                core.claimSignal.wait(timeout: waitingTime(until: nextAttempt))
                continue
            }
            number += 1
            guard let (operations, lost, goOn) = claim(number, photos: photos, next: next) else {
                mayHaveMore = true
                continue
            }
            core.drop(lost)
            next = goOn
            mayHaveMore = !operations.isEmpty || !next.isEmpty
            nextAttempt = .now + Self.idleInterval
            let ids = Set(operations.map(\.held.batch))
            contexts = contexts.filter { id, _ in ids.contains(id) || contexts.count <= 64 }
            for operation in operations { accept(operation, &contexts) }
        }
    }

    private func photosWanted() -> Int {
        guard core.configuration.work == .photos else {
            return core.withLedger { $0.held.count < 64 } ? 4000 : 0
        }
        return core.withLedger { $0.photosWanted }
    }

    /// True once for each time at which a hint falls due.
    private func isHinted() -> Bool {
        hinted.withLock { due in
            guard let first = due.first, .now >= first else { return false }
            due.removeFirst()
            return true
        }
    }

    private func waitingTime(until nextAttempt: ContinuousClock.Instant) -> Duration {
        max(.milliseconds(1), min(nextAttempt, hinted.withLock { $0.first } ?? nextAttempt) - .now)
    }

    /// Claims under `number`, again and again while Redis is away: the same number gets the same answer.
    private func claim(
        _ number: Int, photos: Int, next: String
    ) -> (operations: [ClaimedOperation], lost: [HeldOperation], next: String)? {
        let refused = refusals.withLock { refusals in
            refusals = refusals.filter { $0.value.until > .now }
            return Array(refusals.keys.prefix(100))
        }
        while !core.leaving.isSet, !core.claimsEnd.isSet {
            let held = core.withLedger { $0.held }
            let call = core.store.claim(
                worker: core.id, number: number, photos: min(photos, 4000), next: next, refused: refused,
                held: Array(held.prefix(64)))
            do {
                switch try core.store.perform(call) {
                case .old: return nil
                case .claimed(let claimed): return (claimed.operations, claimed.lost, claimed.next)
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
            try core.accept(operation, context)
        } catch {
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
        if isNews { core.log("batch \(batch) is left to other workers: \(reason)") }
    }

    private func makeContext(_ batch: BatchID) throws -> BatchContext {
        guard let facts = try core.store.facts(of: batch) else { throw Refusal(reason: "it is gone") }
        return try BatchContext(batch, facts.options, core.configuration)
    }
}
