import DarkroomModel
import DarkroomWorkerState

/// Decides when a worker claims, and which operations. A plain value without a clock.
struct ClaimPlan {
    struct Claim: Equatable {
        let lowest: BatchPriority
        /// If set, only operations in focus of this batch are claimed.
        var focus: BatchID?
        /// Claims only from batches that are drained here, or of which this worker has no operation.
        var isForDrained = false

        /// The position in the ready queues to continue from; "" starts at their beginning.
        var next = ""

        /// Whether the claim takes operations of all batches.
        var isOrdinary: Bool { focus == nil && !isForDrained }
    }

    /// A pass over the ready queues that needs several claims.
    private struct Pass {
        var next: String
        /// The turn of the ready queues at the first claim of the pass.
        var turn: Int
        /// Whether none of the claims returned an operation.
        var isFruitless: Bool
        var began: ContinuousClock.Instant
    }

    /// The claims due because of notices: one at once, and one 100 ms later for operations that the first one missed.
    private var notices: [(due: ContinuousClock.Instant, priority: BatchPriority)] = []
    /// The highest priority that may have more operations: the last claim returned some, or there was no claim yet.
    private var more: BatchPriority? = .veryHigh
    private var nextAttempt: ContinuousClock.Instant
    private var nextFocused: ContinuousClock.Instant
    private var pass: Pass?
    /// When the last ordinary claim was due.
    private var lastClaim: ContinuousClock.Instant
    /// The turn at which the ready queues had no operation for this worker; nil if they may have one.
    private var emptyTurn: Int?

    /// How often a worker with room claims without a notice, while the turn of the ready queues does not change.
    static let idleInterval = Duration.seconds(30)
    /// After this time a pass starts again: batches added since then may be ahead of its position.
    private static let longestPass = Duration.seconds(1)
    /// The time between two claims for a focus, which may change a hundred times a second.
    private static let focusInterval = Duration.milliseconds(20)
    private static let maxNotices = 16

    init(now: ContinuousClock.Instant) {
        nextAttempt = now
        nextFocused = now
        lastClaim = now
    }

    /// A notice of new work was published; claims follow at `due` and 100 ms later.
    mutating func noticed(_ priority: BatchPriority, due: ContinuousClock.Instant) {
        notices.removeAll { $0.priority <= priority }
        notices = notices.suffix(Self.maxNotices - 2) + [(due, priority), (due + .milliseconds(100), priority)]
    }

    /// Handles the turn of the ready queues from a heartbeat. If the turn has changed since the ready queues had no operation
    /// for this worker, a claim is due.
    mutating func observed(turn: Int, _ now: ContinuousClock.Instant) {
        if turn != emptyTurn { nextAttempt = min(nextAttempt, now) }
    }

    /// The claim to make now; nil if none is due.
    mutating func next(_ now: ContinuousClock.Instant, _ wants: ClaimDemand) -> Claim? {
        let announced = notices.filter { $0.due <= now }.map(\.priority).max()
        if wants.lowest != nil || wants.takesOthers {
            notices.removeAll { $0.due <= now }
            // The claim starts at the beginning of the ready queues, once there is room.
            if let announced {
                more = max(more ?? announced, announced)
                pass = nil
            }
        }
        if let lowest = wants.lowest {
            let isDue = now >= nextAttempt
            if more.map({ $0 >= lowest }) ?? false || isDue {
                if isDue || pass.map({ now - $0.began >= Self.longestPass }) ?? false { pass = nil }
                nextAttempt = now + Self.idleInterval
                lastClaim = now
                return Claim(lowest: lowest, next: pass?.next ?? "")
            }
        }
        if let drained = wants.drained { return Claim(lowest: drained, isForDrained: true) }
        // A full worker claims a few operations of a new batch of this priority at once, so that it takes turns with the others.
        if let announced, wants.takesOthers { return Claim(lowest: announced, isForDrained: true) }
        guard let focused = wants.focused, now >= nextFocused else { return nil }
        nextFocused = now + Self.focusInterval
        return Claim(lowest: focused.priority, focus: focused.batch)
    }

    /// Records the result of a claim.
    /// - Parameters:
    ///   - next: the position to continue from; "" if the claim reached the end of the ready queues.
    ///   - sawAll: whether the claim excluded only refused batches, and the cluster is not suspended. Then nothing more can be
    ///     claimed until the turn changes.
    mutating func claimed(_ claim: Claim, _ priorities: [BatchPriority], next: String, turn: Int, sawAll: Bool) {
        guard claim.isOrdinary else { return }
        var current =
            claim.next.isEmpty ? Pass(next: "", turn: turn, isFruitless: true, began: lastClaim) : pass
        if !priorities.isEmpty || !sawAll { current?.isFruitless = false }
        current?.next = next
        pass = next.isEmpty ? nil : current
        emptyTurn = next.isEmpty && current?.isFruitless == true && current?.turn == turn ? turn : nil
        if !next.isEmpty {
            more = .veryHigh
        } else if let least = priorities.min() {
            more = least  // the claim took higher priorities first
        } else if let known = more, known >= claim.lowest {
            more = BatchPriority.allCases.last { $0 < claim.lowest }
        }
    }

    /// The result of a claim is unknown.
    mutating func failed() {
        more = .veryHigh
        pass = nil
        emptyTurn = nil
    }

    /// When to call ``next(_:_:)`` again.
    func wake(_ now: ContinuousClock.Instant, _ wants: ClaimDemand) -> ContinuousClock.Instant {
        var times = [wants.lowest == nil ? now + Self.idleInterval : nextAttempt]
        if wants.lowest != nil || wants.takesOthers { times += notices.map(\.due) }
        if wants.focused != nil { times.append(nextFocused) }
        return max(times.min() ?? nextAttempt, now)
    }
}
