import DarkroomModel

/// When a worker claims, and what: a plain value without a clock.
struct ClaimPlan {
    /// A claim that is to be made.
    struct Claim: Equatable {
        /// The lowest priority that is taken.
        let lowest: Priority
        /// Only operations that are in focus: for a full worker.
        var isFocused = false
    }

    /// When work of which priority was hinted: soon after, and 100 ms later, for what the hint left out.
    private var hints: [(due: ContinuousClock.Instant, priority: Priority)] = []
    /// The highest priority of which there may be more: the last claim handed some out, or there was none yet.
    private var more: Priority? = .veryHigh
    private var nextAttempt: ContinuousClock.Instant
    private var nextFocused: ContinuousClock.Instant

    /// Without any hint a worker with room looks for work this often.
    static let idleInterval = Duration.seconds(3)
    /// A focus may move a hundred times a second: claims for it are this far apart.
    private static let focusInterval = Duration.milliseconds(20)
    private static let maxHints = 16

    init(now: ContinuousClock.Instant) {
        nextAttempt = now
        nextFocused = now
    }

    /// "Work available" was published; it is looked for at `due` and 100 ms later.
    mutating func hinted(_ priority: Priority, due: ContinuousClock.Instant) {
        hints.removeAll { $0.priority <= priority }
        hints = hints.suffix(Self.maxHints - 2) + [(due, priority), (due + .milliseconds(100), priority)]
    }

    /// The claim to make now, nil when it is not time.
    /// - Parameters:
    ///   - lowest: the lowest priority of which the worker wants more; nil when it is full.
    ///   - focused: the lowest priority of operations in focus that it wants although it is full.
    mutating func next(
        _ now: ContinuousClock.Instant, lowest: Priority?, focused: Priority?
    ) -> Claim? {
        let wasHinted = lowest.map { lowest in hints.contains { $0.due <= now && $0.priority >= lowest } } ?? false
        hints.removeAll { $0.due <= now }
        if let lowest, wasHinted || more.map({ $0 >= lowest }) ?? false || now >= nextAttempt {
            nextAttempt = now + Self.idleInterval
            return Claim(lowest: lowest)
        }
        guard let focused, now >= nextFocused else { return nil }
        nextFocused = now + Self.focusInterval
        // Who has room anyway gets what is in focus first.
        if let lowest, lowest <= focused { return Claim(lowest: lowest) }
        return Claim(lowest: focused, isFocused: true)
    }

    /// What a claim brought: the priorities of the operations handed out, and whether it has to go on.
    mutating func claimed(_ claim: Claim, _ priorities: [Priority], goesOn: Bool) {
        guard !claim.isFocused else { return }
        if goesOn {
            more = .veryHigh
        } else if let least = priorities.min() {
            more = least  // what is more urgent was looked at before
        } else if let known = more, known >= claim.lowest {
            more = Priority.allCases.last { $0 < claim.lowest }
        }
    }

    /// It is not known what a claim brought.
    mutating func failed() { more = .veryHigh }

    /// When to look again.
    func wake(_ now: ContinuousClock.Instant, lowest: Priority?, focused: Priority?) -> ContinuousClock.Instant {
        var times = [lowest == nil ? now + Self.idleInterval : nextAttempt]
        if lowest != nil { times += hints.map(\.due) }
        if focused != nil { times.append(nextFocused) }
        return max(times.min() ?? nextAttempt, now)
    }
}
