/// Finds the highest rate of requests that a host allows, from its refusals. A plain value.
///
/// While no rate has been refused, the rate grows by half each step. Later, it is searched for between the highest rate
/// that was allowed and the lowest rate that was refused.
struct RequestPace {
    private static let growth = 1.5
    /// How long a rate is tried before it grows, while none has been refused.
    private static let firstStep = Duration.milliseconds(300)
    /// How long a rate must have no refusals to be regarded as allowed. Longer than a second, because many hosts count the
    /// requests of each second.
    private static let step = Duration.milliseconds(1100)
    /// When the search has ended, the found rate is used for this long before a higher rate is tried.
    private static let hold = Duration.seconds(30)
    /// The search ends when the allowed and the refused rate are this close.
    private static let precision = 0.1
    private static let least = 0.05
    private static let most = 1000.0

    /// In requests per second, of all workers.
    private(set) var rate: Double
    /// The part of the rate that this worker has.
    private var part: Double
    private var rateBefore: Double
    private var allowed = 0.0
    private var refused = Double.infinity
    /// When the rate was changed.
    private var since: ContinuousClock.Instant
    /// When requests may be sent again after a refusal.
    private var resume: ContinuousClock.Instant
    /// When the last request began, or would have begun at this pace.
    private var last: ContinuousClock.Instant?

    /// The pace after the first refusal of a host.
    /// - Parameters:
    ///   - rate: a rate that is probably allowed, in requests per second of all workers.
    ///   - part: the part of the rate that this worker has.
    ///   - resume: when requests may be sent again.
    init(rate: Double, part: Double = 1, resume: ContinuousClock.Instant) {
        (self.rate, rateBefore) = (rate, rate)
        self.part = part
        since = resume
        self.resume = resume
    }

    /// The time between two requests of this worker.
    private var interval: Duration { .seconds(1 / (rate * part)) }

    /// When the next request may begin.
    var next: ContinuousClock.Instant { max(resume, last.map { $0 + interval } ?? resume) }

    mutating func began(_ now: ContinuousClock.Instant) { last = max(next, now) }

    /// This worker has this part of the rate now.
    mutating func setPart(_ new: Double, _ now: ContinuousClock.Instant) {
        // If the worker shares the host with other workers, its first request waits for one interval.
        if new < 1, last == nil { last = max(resume, now) }
        part = new
    }

    /// The host has answered a request that began at `start`.
    mutating func answered(begun start: ContinuousClock.Instant, _ now: ContinuousClock.Instant) {
        let isFound = (refused - rate) / refused < Self.precision
        let step = isFound ? Self.hold : refused.isFinite ? Self.step : Self.firstStep
        guard start >= since, now - since >= max(step, interval * 5) else { return }
        if now - since >= Self.step { allowed = max(allowed, rate) }
        if isFound { refused *= Self.growth }  // the host may allow more after a while
        change(to: min(Self.most, refused.isFinite ? (rate + refused) / 2 : rate * Self.growth), now)
    }

    /// The host has refused a request that began at `start`.
    /// - Parameter resume: when requests may be sent again.
    mutating func refused(begun start: ContinuousClock.Instant, resume: ContinuousClock.Instant) {
        refused = min(refused, start < since ? rateBefore : rate)
        if allowed >= refused { allowed = 0 }  // the host allows less than before
        let isFound = (refused - allowed) / refused < Self.precision
        let middle = allowed > 0 ? (allowed + refused) / 2 : refused / 2
        change(to: max(Self.least, isFound ? allowed : middle), resume)
        pauseRequests(until: resume)
    }

    /// Another worker has found the rate.
    mutating func adopt(rate found: Double, _ now: ContinuousClock.Instant) {
        change(to: min(Self.most, max(Self.least, found)), now)
        allowed = rate
        refused = rate * (1 + Self.precision / 2)
    }

    /// The host got no more than `measured` requests per second.
    mutating func lower(to measured: Double) { rate = min(rate, measured) }

    /// The host has refused the only request after a pause.
    mutating func pause(until resume: ContinuousClock.Instant) {
        since = resume
        pauseRequests(until: resume)
    }

    /// The first request after a pause comes at its end.
    private mutating func pauseRequests(until time: ContinuousClock.Instant) {
        resume = time
        last = nil
    }

    private mutating func change(to new: Double, _ now: ContinuousClock.Instant) {
        rateBefore = rate
        rate = new
        since = now
    }
}
