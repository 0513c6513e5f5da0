import DarkroomModel
import DarkroomStore

/// The batches that a worker refuses, and which of them Redis knows. A plain value without a clock.
///
/// Claims skip the refused batches that Redis knows, so a claim cannot find out that the reason of a refusal is gone. The
/// worker checks the folders of the batch again for that.
package struct Refusals {
    /// The event that may end a refusal.
    package enum End: Sendable {
        /// A successful check of a batch with these options, which took its output folder with the number `taken`.
        case check(BatchOptions, taken: Int)
        /// Time: somebody may have repaired the cause.
        case time
        /// An answer of the file system at this mount point, see ``Refusals/recovered(_:)``.
        case answer(String)
    }

    package struct Refusal {
        var reason: String
        let end: End
        /// When to check whether the reason is gone.
        var due: ContinuousClock.Instant
    }

    private var refusals: [BatchID: Refusal] = [:]
    /// Refused batches that Redis does not know yet.
    private var unsent: Set<BatchID> = []
    /// Batches that are no longer refused, and that Redis still lists as refused.
    private var withdrawn: Set<BatchID> = []
    /// Whether the next claim replaces all refusals in Redis.
    private var replacesAll = true

    /// The most refusals with a reason. Of further refused batches only the id is kept, for ``crowdInterval``.
    package static let limit = 10_000
    /// The most refused batches. Beyond it, the one that is due first is no longer refused.
    static let mostKept = 100_000
    /// How long a batch is refused if only its id is kept.
    static let crowdInterval = Duration.seconds(600)
    /// How often the worker checks whether it can run a refused batch.
    static let checkInterval = Duration.seconds(5)
    /// How long a batch with an unreadable operation is refused.
    static let timeInterval = Duration.seconds(60)
    /// The longest refusal of a batch whose file system does not answer.
    static let answerInterval = Duration.seconds(600)
    private static let maxDue = 1000

    /// The reasons of the refusals that have one, at most ``limit``.
    package var reasons: [BatchID: String] { refusals.filter { !$0.value.reason.isEmpty }.mapValues(\.reason) }

    package var batches: [BatchID] { Array(refusals.keys) }

    package var isEmpty: Bool { refusals.isEmpty }

    package func contains(_ batch: BatchID) -> Bool { refusals[batch] != nil }

    /// Refuses a batch.
    /// - Returns: false if it was refused before.
    package mutating func refuse(
        _ batch: BatchID, _ reason: String, until end: End, _ now: ContinuousClock.Instant
    ) -> Bool {
        let isNews = refusals[batch] == nil
        if isNews, refusals.count >= Self.mostKept, let first = refusals.min(by: { $0.value.due < $1.value.due }) {
            withdraw(first.key)
        }
        if isNews, refusals.count >= Self.limit {
            refusals[batch] = Refusal(reason: "", end: .time, due: now + Self.crowdInterval)
        } else {
            refusals[batch] = Refusal(reason: reason, end: end, due: now + Self.interval(end))
        }
        if withdrawn.remove(batch) == nil, isNews { unsent.insert(batch) }
        return isNews
    }

    package mutating func withdraw(_ batch: BatchID) {
        guard refusals.removeValue(forKey: batch) != nil else { return }
        if unsent.remove(batch) == nil { withdrawn.insert(batch) }
    }

    /// Ends the refusals that wait for the file system at a mount point, which answers again.
    package mutating func recovered(_ mount: String) {
        for (batch, refusal) in refusals {
            if case .answer(mount) = refusal.end { withdraw(batch) }
        }
    }

    /// Keeps a refusal after a check, with the reason that the check found.
    package mutating func keep(_ batch: BatchID, _ reason: String, _ now: ContinuousClock.Instant) {
        guard let end = refusals[batch]?.end else { return }
        refusals[batch]?.reason = reason
        refusals[batch]?.due = now + Self.interval(end)
    }

    package func due(_ now: ContinuousClock.Instant) -> [(batch: BatchID, end: End)] {
        refusals.filter { $0.value.due <= now }.prefix(Self.maxDue).map { ($0.key, $0.value.end) }
    }

    /// Makes every refusal that a check can end due now.
    package mutating func checkAgain(_ now: ContinuousClock.Instant) {
        for (batch, refusal) in refusals {
            if case .check = refusal.end { refusals[batch]?.due = now }
        }
    }

    private static func interval(_ end: End) -> Duration {
        switch end {
        case .check: checkInterval
        case .time: timeInterval
        case .answer: answerInterval
        }
    }

    /// The changes that Redis does not know yet, as many as one claim can send.
    package var changes: RefusalChanges {
        RefusalChanges(
            replacesAll: replacesAll,
            added: Array((replacesAll ? Set(refusals.keys) : unsent).prefix(RefusalChanges.limit)),
            removed: replacesAll ? [] : Array(withdrawn.prefix(RefusalChanges.limit)))
    }

    /// A claim sent these changes; Redis now knows `count` refusals.
    package mutating func sent(_ changes: RefusalChanges, count: Int) {
        if changes.replacesAll {
            unsent = Set(refusals.keys)
            withdrawn = []
            replacesAll = false
        }
        unsent.subtract(changes.added)
        withdrawn.subtract(changes.removed)
        // Refusals that ended while the claim was sent.
        withdrawn.formUnion(changes.added.filter { refusals[$0] == nil })
        // Redis has lost refusals, or has refusals that this worker did not send.
        if count != refusals.count - unsent.count + withdrawn.count { replacesAll = true }
    }

    /// Redis was unreachable and may have lost refusals: the next claim sends all of them.
    package mutating func sendAll() { replacesAll = true }
}
