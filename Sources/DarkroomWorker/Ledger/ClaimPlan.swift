import DarkroomModel

/// When a worker claims, and what: a plain value without a clock.
struct ClaimPlan {
    /// A claim that is to be made.
    struct Claim: Equatable {
        /// The lowest priority that is taken.
        let lowest: Priority
        /// Only operations that are in focus: for a full worker.
        var isFocused = false
        /// Only batches of which nothing is left to begin, or of which nothing is held.
        var isForHungry = false

        /// Whether it looks for everything that there is.
        var isOrdinary: Bool { !isFocused && !isForHungry }
    }

    /// What a worker has room for.
    struct Wants {
        /// The lowest priority of which it wants more; nil when it is full.
        var lowest: Priority?
        /// The lowest priority of operations in focus that it wants although it is full.
        var focused: Priority?
        /// The lowest priority of batches that have nothing left to begin here, although it is full of others.
        var hungry: Priority?
        /// Whether it takes a little of batches that it holds nothing of, although it is full of others.
        var takesOthers = false

        /// Nothing.
        static let nothing = Wants()
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
    mutating func next(_ now: ContinuousClock.Instant, _ wants: Wants) -> Claim? {
        let hinted = hints.filter { $0.due <= now }.map(\.priority).max()
        if wants.lowest != nil || wants.takesOthers {
            hints.removeAll { $0.due <= now }
            // Looked for at the latest when there is room.
            if let hinted { more = max(more ?? hinted, hinted) }
        }
        if let lowest = wants.lowest {
            if more.map({ $0 >= lowest }) ?? false || now >= nextAttempt {
                nextAttempt = now + Self.idleInterval
                return Claim(lowest: lowest)
            }
        }
        if let hungry = wants.hungry { return Claim(lowest: hungry, isForHungry: true) }
        // Of as urgent a batch that is new a full worker takes some at once, and its turns begin.
        if let hinted, wants.takesOthers { return Claim(lowest: hinted, isForHungry: true) }
        guard let focused = wants.focused, now >= nextFocused else { return nil }
        nextFocused = now + Self.focusInterval
        // Who has room anyway gets what is in focus first.
        if let lowest = wants.lowest, lowest <= focused { return Claim(lowest: lowest) }
        return Claim(lowest: focused, isFocused: true)
    }

    /// What a claim brought: the priorities of the operations handed out, and whether it has to go on.
    mutating func claimed(_ claim: Claim, _ priorities: [Priority], goesOn: Bool) {
        guard claim.isOrdinary else { return }
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
    func wake(_ now: ContinuousClock.Instant, _ wants: Wants) -> ContinuousClock.Instant {
        var times = [wants.lowest == nil ? now + Self.idleInterval : nextAttempt]
        if wants.lowest != nil || wants.takesOthers { times += hints.map(\.due) }
        if wants.focused != nil { times.append(nextFocused) }
        return max(times.min() ?? nextAttempt, now)
    }
}
