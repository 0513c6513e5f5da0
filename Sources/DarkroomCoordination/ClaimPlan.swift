import DarkroomModel
import DarkroomWorkerState

/// When a worker claims, and what: a plain value without a clock.
struct ClaimPlan {
    /// A claim that is to be made.
    struct Claim: Equatable {
        /// The lowest priority that is taken.
        let lowest: BatchPriority
        /// The batch of which only operations in focus are taken.
        var focus: BatchID?
        /// Only batches of which nothing is left to begin, or of which nothing is held.
        var isForDrained = false

        /// Where the rings are to be read on, "" from their beginning.
        var next = ""

        /// Whether it looks for everything that there is.
        var isOrdinary: Bool { focus == nil && !isForDrained }
    }

    /// A pass over the rings that takes several claims.
    private struct Pass {
        var next: String
        /// The turn of the rings at its first claim.
        var turn: Int
        /// Whether none of its claims handed anything out.
        var isFruitless: Bool
        var began: ContinuousClock.Instant
    }

    /// When work of which priority was announced: soon after, and 100 ms later, for what the hint left out.
    private var notices: [(due: ContinuousClock.Instant, priority: BatchPriority)] = []
    /// The highest priority of which there may be more: the last claim handed some out, or there was none yet.
    private var more: BatchPriority? = .veryHigh
    private var nextAttempt: ContinuousClock.Instant
    private var nextFocused: ContinuousClock.Instant
    private var pass: Pass?
    /// When the last ordinary claim was due.
    private var lastClaim: ContinuousClock.Instant
    /// The turn of the rings at which they had nothing for this worker; nil when they may have something.
    private var emptyTurn: Int?

    /// How often a worker with room claims without a hint, while the turn of the rings does not change.
    static let idleInterval = Duration.seconds(30)
    /// After this time a pass begins again: batches that entered the rings since may be ahead of its position.
    private static let longestPass = Duration.seconds(1)
    /// A focus may move a hundred times a second: claims for it are this far apart.
    private static let focusInterval = Duration.milliseconds(20)
    private static let maxNotices = 16

    init(now: ContinuousClock.Instant) {
        nextAttempt = now
        nextFocused = now
        lastClaim = now
    }

    /// "Work available" was published; it is looked for at `due` and 100 ms later.
    mutating func noticed(_ priority: BatchPriority, due: ContinuousClock.Instant) {
        notices.removeAll { $0.priority <= priority }
        notices = notices.suffix(Self.maxNotices - 2) + [(due, priority), (due + .milliseconds(100), priority)]
    }

    /// Takes the turn of the rings from a heartbeat. If it has changed since the rings were empty for this worker, a claim is
    /// due.
    mutating func observed(turn: Int, _ now: ContinuousClock.Instant) {
        if turn != emptyTurn { nextAttempt = min(nextAttempt, now) }
    }

    /// The claim to make now, nil when it is not time.
    mutating func next(_ now: ContinuousClock.Instant, _ wants: ClaimDemand) -> Claim? {
        let announced = notices.filter { $0.due <= now }.map(\.priority).max()
        if wants.lowest != nil || wants.takesOthers {
            notices.removeAll { $0.due <= now }
            // Looked for at the latest when there is room, and from the beginning of the rings.
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
        // Of as urgent a batch that is new a full worker takes some at once, and its turns begin.
        if let announced, wants.takesOthers { return Claim(lowest: announced, isForDrained: true) }
        guard let focused = wants.focused, now >= nextFocused else { return nil }
        nextFocused = now + Self.focusInterval
        return Claim(lowest: focused.priority, focus: focused.batch)
    }

    /// What a claim brought.
    /// - Parameters:
    ///   - claim: the claim.
    ///   - priorities: those of the operations handed out.
    ///   - next: where it has to go on, "" when all was looked at.
    ///   - turn: that of the rings.
    ///   - sawAll: whether the claim left out refused batches only, and nothing is suspended. Then nothing more can be
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
            more = least  // what is more urgent was looked at before
        } else if let known = more, known >= claim.lowest {
            more = BatchPriority.allCases.last { $0 < claim.lowest }
        }
    }

    /// It is not known what a claim brought.
    mutating func failed() {
        more = .veryHigh
        pass = nil
        emptyTurn = nil
    }

    /// When to look again.
    func wake(_ now: ContinuousClock.Instant, _ wants: ClaimDemand) -> ContinuousClock.Instant {
        var times = [wants.lowest == nil ? now + Self.idleInterval : nextAttempt]
        if wants.lowest != nil || wants.takesOthers { times += notices.map(\.due) }
        if wants.focused != nil { times.append(nextFocused) }
        return max(times.min() ?? nextAttempt, now)
    }
}
