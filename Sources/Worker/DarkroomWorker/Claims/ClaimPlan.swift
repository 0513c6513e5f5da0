import DarkroomModel
import DarkroomWorkerState

/// Decides when a worker claims and which operations it claims. Does not read a clock: the caller passes the time.
struct ClaimPlan {
    struct Claim: Equatable {
        let lowest: BatchPriority
        /// If set, only operations in the focus of this batch are claimed.
        var focus: BatchID?
        /// Whether the claim takes only operations of batches of which this worker has no photo left to start.
        var isForDrained = false

        /// The position in the ready queues at which the claim starts; "" is their beginning.
        var next = ""

        /// Whether the claim takes operations of all batches.
        var isOrdinary: Bool { focus == nil && !isForDrained }
    }

    /// A pass over the ready queues, which may need several claims.
    private struct Pass {
        var next: String
        /// The turn counter of the ready queues at the first claim of the pass.
        var turn: Int
        /// Whether no claim of the pass has returned an operation.
        var isFruitless: Bool
        var began: ContinuousClock.Instant
    }

    /// The claims that notices cause. Each notice causes a claim at once, and another claim 100 ms later for operations
    /// that the first claim missed.
    private var notices: [(due: ContinuousClock.Instant, priority: BatchPriority)] = []
    /// The highest priority that may have operations left to claim; nil if no priority has any.
    private var more: BatchPriority? = .veryHigh
    private var nextAttempt: ContinuousClock.Instant
    private var nextFocused: ContinuousClock.Instant
    private var pass: Pass?
    /// The time at which ``next(_:_:)`` last returned an ordinary claim, see ``Claim/isOrdinary``.
    private var lastClaim: ContinuousClock.Instant
    /// The turn counter at the last time when the ready queues had no operation for this worker; nil if the ready
    /// queues may have an operation now. The counter grows whenever a batch enters a ready queue.
    private var emptyTurn: Int?
    /// Before `end`, the worker claims no operations of this priority or a lower one.
    private var heldBack: (priority: BatchPriority, end: ContinuousClock.Instant)?
    /// Whether the worker held no operation at the last call of ``next(_:_:)``.
    private var wasIdle = true

    /// The interval between the claims of a worker that can take more operations, if no notice arrives and the turn
    /// counter does not change.
    static let idleInterval = Duration.seconds(30)
    /// After this time a pass starts again from the beginning, because batches may have been added before the current
    /// position.
    private static let longestPass = Duration.seconds(1)
    /// The shortest time between two claims for a focus, even if the focus changes a hundred times a second.
    private static let focusInterval = Duration.milliseconds(20)
    private static let maxNotices = 16

    init(now: ContinuousClock.Instant) {
        nextAttempt = now
        nextFocused = now
        lastClaim = now
    }

    /// Handles a notice of new work: a claim follows at `due`, and another one 100 ms later.
    mutating func noticed(_ priority: BatchPriority, due: ContinuousClock.Instant) {
        notices.removeAll { $0.priority <= priority }
        notices = notices.suffix(Self.maxNotices - 2) + [(due, priority), (due + .milliseconds(100), priority)]
    }

    /// Handles the turn counter of the ready queues in a heartbeat reply. A claim is due at once if the counter shows
    /// that the ready queues may have operations for this worker.
    mutating func observed(turn: Int, _ now: ContinuousClock.Instant) {
        if turn != emptyTurn { nextAttempt = min(nextAttempt, now) }
    }

    /// Before `end`, claims no operations of `priority` or a lower one, because this worker has released some of them
    /// for an idle worker.
    mutating func hold(back priority: BatchPriority, until end: ContinuousClock.Instant) {
        let highest = heldBack.map { max($0.priority, priority) } ?? priority
        heldBack = (highest, end)
        more = max(more ?? priority, priority)  // claims again after `end`, for operations that are left
    }

    /// The demand, excluding the operations that are left to another worker; the whole demand if this worker is idle.
    private func allowed(_ wants: ClaimDemand, _ now: ContinuousClock.Instant) -> ClaimDemand {
        guard let heldBack, now < heldBack.end, !wants.isIdle else { return wants }
        var allowed = wants
        allowed.lowest = wants.lowest.flatMap { lowest in
            BatchPriority.allCases.first { $0 >= lowest && $0 > heldBack.priority }
        }
        allowed.drained = nil
        allowed.takesOthers = false
        return allowed
    }

    /// Returns the claim to send now; nil if no claim is due.
    mutating func next(_ now: ContinuousClock.Instant, _ wants: ClaimDemand) -> Claim? {
        let wants = allowed(wants, now)
        // The claim of an idle worker tells other workers that it is idle, even if the ready queues are empty.
        if wants.isIdle, !wasIdle { nextAttempt = min(nextAttempt, now) }
        wasIdle = wants.isIdle
        let announced = notices.filter { $0.due <= now }.map(\.priority).max()
        if wants.lowest != nil || wants.takesOthers {
            notices.removeAll { $0.due <= now }
            // After a notice, the next ordinary claim starts at the beginning of the ready queues.
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
        // Even a full worker claims a few operations of batches of which it has no photo to start: batches take turns.
        if let announced, wants.takesOthers { return Claim(lowest: announced, isForDrained: true) }
        guard let focused = wants.focused, now >= nextFocused else { return nil }
        nextFocused = now + Self.focusInterval
        return Claim(lowest: focused.priority, focus: focused.batch)
    }

    /// Records the result of a claim.
    /// - Parameters:
    ///   - next: the position to continue from; "" if the claim reached the end of the ready queues.
    ///   - sawAll: true if the claim skipped only refused batches and the cluster is not suspended. If a pass of such
    ///     claims returns no operations, there are none for this worker until the turn counter changes.
    ///   - again: the time until the next claim if nothing changes; nil for ``idleInterval``.
    mutating func claimed(
        _ claim: Claim, _ priorities: [BatchPriority], next: String, turn: Int, sawAll: Bool, again: Duration? = nil
    ) {
        guard claim.isOrdinary else { return }
        if let again { nextAttempt = min(nextAttempt, lastClaim + again) }
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

    /// Handles a claim whose result is unknown.
    mutating func failed() {
        more = .veryHigh
        pass = nil
        emptyTurn = nil
    }

    /// The time at which to call ``next(_:_:)`` again.
    func wake(_ now: ContinuousClock.Instant, _ wants: ClaimDemand) -> ContinuousClock.Instant {
        let wants = allowed(wants, now)
        var times = [wants.lowest == nil ? now + Self.idleInterval : nextAttempt]
        if let heldBack, now < heldBack.end { times.append(heldBack.end) }
        if wants.lowest != nil || wants.takesOthers { times += notices.map(\.due) }
        if wants.focused != nil { times.append(nextFocused) }
        return max(times.min() ?? nextAttempt, now)
    }
}
