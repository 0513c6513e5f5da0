/// From the refusals of a host, finds the highest rate of requests that the host allows. A plain value.
///
/// While no rate has been refused, the rate grows by half in each step. Later, the search continues between the highest
/// rate that was allowed and the lowest rate that was refused.
struct RequestPace {
    private static let growth = 1.5
    /// The time for which a rate is tried before it grows, while no rate has been refused.
    private static let firstStep = Duration.milliseconds(300)
    /// A rate counts as allowed if it had no refusals for this time. The time is longer than a second, because many
    /// hosts count the requests of each second.
    private static let step = Duration.milliseconds(1100)
    /// When the search has ended, the found rate is used for this long before a higher rate is tried.
    private static let hold = Duration.seconds(30)
    /// The search ends when the relative difference between the allowed and the refused rate is less than this.
    private static let precision = 0.1
    private static let least = 0.05
    private static let most = 1000.0

    /// The rate of all workers together, in requests per second.
    private(set) var rate: Double
    /// The part of the rate that this worker has.
    private var part: Double
    private var rateBefore: Double
    private var allowed = 0.0
    private var refused = Double.infinity
    /// The time at which the rate was changed.
    private var since: ContinuousClock.Instant
    /// The time from which requests may be sent again after a refusal.
    private var resume: ContinuousClock.Instant
    /// The turn of the last request: the time at which it began, or might have begun at this pace.
    private var last: ContinuousClock.Instant?

    /// The pace after the first refusal of a host.
    /// - Parameters:
    ///   - rate: a rate of all workers together that is probably allowed, in requests per second.
    ///   - part: the fraction of this rate that this worker may use.
    ///   - resume: the time from which requests may be sent again.
    init(rate: Double, part: Double = 1, resume: ContinuousClock.Instant) {
        (self.rate, rateBefore) = (rate, rate)
        self.part = part
        since = resume
        self.resume = resume
    }

    /// The time between two requests of this worker.
    private var interval: Duration { .seconds(1 / (rate * part)) }

    /// The time at which the next request may begin.
    var next: ContinuousClock.Instant { max(resume, last.map { $0 + interval } ?? resume) }

    mutating func began(_ now: ContinuousClock.Instant) { last = max(next, now) }

    /// Sets the fraction of the rate that this worker may use.
    mutating func setPart(_ new: Double, _ now: ContinuousClock.Instant) {
        // If the worker shares the host with other workers, its first request waits for one interval.
        if new < 1, last == nil { last = max(resume, now) }
        part = new
    }

    /// Must be called when the host has answered a request that began at `start`.
    mutating func answered(begun start: ContinuousClock.Instant, _ now: ContinuousClock.Instant) {
        let isFound = (refused - rate) / refused < Self.precision
        let step = isFound ? Self.hold : refused.isFinite ? Self.step : Self.firstStep
        guard start >= since, now - since >= max(step, interval * 5) else { return }
        if now - since >= Self.step { allowed = max(allowed, rate) }
        if isFound { refused *= Self.growth }  // the host may allow more after a while
        change(to: min(Self.most, refused.isFinite ? (rate + refused) / 2 : rate * Self.growth), now)
    }

    /// Must be called when the host has refused a request that began at `start`.
    /// - Parameter resume: the time from which requests may be sent again.
    mutating func refused(begun start: ContinuousClock.Instant, resume: ContinuousClock.Instant) {
        refused = min(refused, start < since ? rateBefore : rate)
        if allowed >= refused { allowed = 0 }  // the host allows less than before
        let isFound = (refused - allowed) / refused < Self.precision
        let middle = allowed > 0 ? (allowed + refused) / 2 : refused / 2
        change(to: max(Self.least, isFound ? allowed : middle), resume)
        pauseRequests(until: resume)
    }

    /// Adopts the rate that another worker has found.
    mutating func adopt(rate found: Double, _ now: ContinuousClock.Instant) {
        change(to: min(Self.most, max(Self.least, found)), now)
        allowed = rate
        refused = rate * (1 + Self.precision / 2)
    }

    /// Lowers the rate to `measured` requests per second, because the host did not get more.
    mutating func lower(to measured: Double) { rate = min(rate, measured) }

    /// Must be called when the host has refused the single request after a pause.
    mutating func pause(until resume: ContinuousClock.Instant) {
        since = resume
        pauseRequests(until: resume)
    }

    /// Sets the end of a pause. The first request may begin at this time.
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
