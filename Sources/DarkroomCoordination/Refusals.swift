import DarkroomModel
import DarkroomStore

/// The batches that a worker refuses, and which of them Redis knows. A plain value without a clock.
///
/// Claims pass over the refused batches that Redis knows. So a refusal stands until its reason is gone. The worker finds that
/// out by checking the folders of the batch again, not by a claim.
package struct Refusals {
    /// What may end a refusal.
    package enum End: Sendable {
        /// A check succeeds: the worker can run a batch with these options, which took its output folder with the number
        /// `taken`.
        case check(BatchOptions, taken: Int)
        /// Time: what failed may have been mended.
        case time
        /// The file system at this mount point answers again, see ``Refusals/recovered(_:)``.
        case answer(String)
    }

    /// A refused batch.
    package struct Refusal {
        var reason: String
        let end: End
        /// When to look whether the reason is gone.
        var due: ContinuousClock.Instant
    }

    private var refusals: [BatchID: Refusal] = [:]
    /// Refused batches that Redis does not know of.
    private var unsent: Set<BatchID> = []
    /// Batches that are no longer refused, and that Redis still lists as refused.
    private var withdrawn: Set<BatchID> = []
    /// Whether the next claim replaces all refusals that Redis has.
    private var replacesAll = true

    /// Of further refused batches only the id is kept, and they are claimed again after ``crowdInterval``.
    package static let limit = 10_000
    /// Of more refused batches the one that is due first is forgotten.
    static let mostKept = 100_000
    /// How long a batch is refused of which only the id is kept.
    static let crowdInterval = Duration.seconds(600)
    /// How often the worker looks whether it can do a batch.
    static let checkInterval = Duration.seconds(5)
    /// How long a batch is refused of which an operation cannot be read.
    static let timeInterval = Duration.seconds(60)
    /// How long a batch is refused whose file system does not answer, unless it does before.
    static let answerInterval = Duration.seconds(600)
    /// The most refusals of one look.
    private static let maxDue = 1000

    /// The reason for each batch, of the first ``limit``.
    package var reasons: [BatchID: String] { refusals.filter { !$0.value.reason.isEmpty }.mapValues(\.reason) }

    /// The refused batches.
    package var batches: [BatchID] { Array(refusals.keys) }

    package var isEmpty: Bool { refusals.isEmpty }

    package func contains(_ batch: BatchID) -> Bool { refusals[batch] != nil }

    // MARK: Changes

    /// Refuses a batch.
    /// - Returns: false when it was refused before.
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

    /// No longer refuses a batch.
    package mutating func withdraw(_ batch: BatchID) {
        guard refusals.removeValue(forKey: batch) != nil else { return }
        if unsent.remove(batch) == nil { withdrawn.insert(batch) }
    }

    /// The file system at a mount point answers again.
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

    /// Refusals that may have come to their end.
    package func due(_ now: ContinuousClock.Instant) -> [(batch: BatchID, end: End)] {
        refusals.filter { $0.value.due <= now }.prefix(Self.maxDue).map { ($0.key, $0.value.end) }
    }

    /// Every refusal that a look can end is due.
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

    // MARK: Redis

    /// What Redis does not know, as far as one claim can tell it.
    package var changes: RefusalChanges {
        RefusalChanges(
            replacesAll: replacesAll,
            added: Array((replacesAll ? Set(refusals.keys) : unsent).prefix(RefusalChanges.limit)),
            removed: replacesAll ? [] : Array(withdrawn.prefix(RefusalChanges.limit)))
    }

    /// A claim told Redis these changes; it now knows `count` refusals.
    package mutating func sent(_ changes: RefusalChanges, count: Int) {
        if changes.replacesAll {
            unsent = Set(refusals.keys)
            withdrawn = []
            replacesAll = false
        }
        unsent.subtract(changes.added)
        withdrawn.subtract(changes.removed)
        // What was withdrawn while the claim was under way.
        withdrawn.formUnion(changes.added.filter { refusals[$0] == nil })
        // Redis lost some, or kept what this worker never told it.
        if count != refusals.count - unsent.count + withdrawn.count { replacesAll = true }
    }

    /// Redis was unreachable and may have lost refusals: the next claim sends all of them.
    package mutating func sendAll() { replacesAll = true }
}
