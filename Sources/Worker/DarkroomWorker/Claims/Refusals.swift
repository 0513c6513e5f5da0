import DarkroomModel
import DarkroomStore

/// The batches that a worker refuses, and which of these refusals Redis already knows. A plain value without a clock.
///
/// A claim skips the refused batches that Redis knows, so claims cannot detect that the cause of a refusal is gone.
/// Therefore the worker checks the folders of refused batches again.
struct Refusals {
    /// The event that ends a refusal.
    enum End: Sendable {
        /// A successful check of the batch. The associated values are the options of the batch, and the number that
        /// Redis gave the batch when the batch took its output folder.
        case check(BatchOptions, taken: Int)
        /// The end of a fixed time; by then, somebody may have removed the cause.
        case time
        /// The storage of this hang domain answers again, see ``Refusals/recovered(_:)``.
        case answer(String)
    }

    private struct Entry {
        /// Nil if there were already ``limit`` refusals when the batch was refused.
        var refusal: Refusal?
        let end: End
        /// The time at which the worker checks whether the cause is gone.
        var due: ContinuousClock.Instant
    }

    private var refusals: [BatchID: Entry] = [:]
    /// Refused batches that Redis does not know yet.
    private var unsent: Set<BatchID> = []
    /// Batches that the worker no longer refuses and that Redis still lists as refused.
    private var withdrawn: Set<BatchID> = []
    /// Whether the next claim replaces all refusals in Redis.
    private var replacesAll = true

    /// The largest number of refusals with a reason. Further refusals are kept for ``crowdInterval``, without a reason.
    static let limit = 10_000
    /// The largest number of refused batches. If there are more, the refusal that is due first is
    /// withdrawn.
    static let mostKept = 100_000
    /// The duration of a refusal that is kept without a reason.
    static let crowdInterval = Duration.seconds(600)
    /// The interval between two checks whether the worker can run a refused batch.
    static let checkInterval = Duration.seconds(5)
    /// The duration of the refusal of a batch with an unreadable operation.
    static let timeInterval = Duration.seconds(60)
    /// The longest time for which a batch is refused because its storage does not answer.
    static let answerInterval = Duration.seconds(600)
    private static let maxDue = 1000

    /// The refused batches with the reasons, excluding refusals that are kept without a reason.
    var kept: [BatchID: Refusal] { refusals.compactMapValues(\.refusal) }

    var batches: [BatchID] { Array(refusals.keys) }

    var isEmpty: Bool { refusals.isEmpty }

    func contains(_ batch: BatchID) -> Bool { refusals[batch] != nil }

    /// Refuses a batch.
    /// - Returns: false if the batch was already refused.
    mutating func refuse(
        _ batch: BatchID, _ refusal: Refusal, until end: End, _ now: ContinuousClock.Instant
    ) -> Bool {
        let isNews = refusals[batch] == nil
        if isNews, refusals.count >= Self.mostKept, let first = refusals.min(by: { $0.value.due < $1.value.due }) {
            withdraw(first.key)
        }
        if isNews, refusals.count >= Self.limit {
            refusals[batch] = Entry(refusal: nil, end: .time, due: now + Self.crowdInterval)
        } else {
            refusals[batch] = Entry(refusal: refusal, end: end, due: now + Self.interval(end))
        }
        if withdrawn.remove(batch) == nil, isNews { unsent.insert(batch) }
        return isNews
    }

    mutating func withdraw(_ batch: BatchID) {
        guard refusals.removeValue(forKey: batch) != nil else { return }
        if unsent.remove(batch) == nil { withdrawn.insert(batch) }
    }

    /// Withdraws the refusals whose cause was that the storage of this hang domain did not answer.
    mutating func recovered(_ domain: String) {
        for (batch, entry) in refusals {
            if case .answer(domain) = entry.end { withdraw(batch) }
        }
    }

    /// Continues to refuse a batch, with the refusal that a check has returned.
    mutating func keep(_ batch: BatchID, _ refusal: Refusal, _ now: ContinuousClock.Instant) {
        guard let end = refusals[batch]?.end else { return }
        refusals[batch]?.refusal = refusal
        refusals[batch]?.due = now + Self.interval(end)
    }

    /// The refusals to check now, in the order of their due times.
    func due(_ now: ContinuousClock.Instant) -> [(batch: BatchID, end: End)] {
        refusals.filter { $0.value.due <= now }.sorted { $0.value.due < $1.value.due }.prefix(Self.maxDue)
            .map { ($0.key, $0.value.end) }
    }

    /// Sets the due time of all refusals that end with a check to now.
    mutating func checkAgain(_ now: ContinuousClock.Instant) {
        for (batch, entry) in refusals {
            if case .check = entry.end { refusals[batch]?.due = now }
        }
    }

    private static func interval(_ end: End) -> Duration {
        switch end {
        case .check: checkInterval
        case .time: timeInterval
        case .answer: answerInterval
        }
    }

    /// The changes that Redis does not know yet, limited to the number that one claim can send.
    var changes: RefusalChanges {
        RefusalChanges(
            replacesAll: replacesAll,
            added: Array((replacesAll ? Set(refusals.keys) : unsent).prefix(RefusalChanges.limit)),
            removed: replacesAll ? [] : Array(withdrawn.prefix(RefusalChanges.limit)))
    }

    /// Records that a claim has sent these changes, and that Redis now knows `count` refusals.
    mutating func sent(_ changes: RefusalChanges, count: Int) {
        if changes.replacesAll {
            unsent = Set(refusals.keys)
            withdrawn = []
            replacesAll = false
        }
        unsent.subtract(changes.added)
        withdrawn.subtract(changes.removed)
        // Redis must also remove the refusals that ended while the claim was in flight.
        withdrawn.formUnion(changes.added.filter { refusals[$0] == nil })
        // If the counts differ, Redis has lost refusals, or knows refusals that this worker did not send.
        if count != refusals.count - unsent.count + withdrawn.count { replacesAll = true }
    }

    /// Makes the next claim send all refusals, because Redis may have lost refusals while it was unreachable.
    mutating func sendAll() { replacesAll = true }
}
