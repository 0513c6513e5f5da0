/// When to try the next connect: 50 ms after the first failure, twice as long after each further one, 0.5 s at most; all
/// with jitter, so that many clients do not come back in step.
///
/// Not more than 0.5 s: a worker that comes back later than others by much would find that they took its leases.
struct Backoff {
    /// Not before this; nil: at once.
    private(set) var nextAttempt: ContinuousClock.Instant?
    private var failures = 0

    /// Whether the next attempt is still to wait at `now`.
    func mustWait(at now: ContinuousClock.Instant) -> Bool { nextAttempt.map { now < $0 } ?? false }

    mutating func failed(at now: ContinuousClock.Instant) {
        let longest = min(50 << min(failures, 10), 500)
        failures += 1
        nextAttempt = now + .milliseconds(Int.random(in: longest / 2...longest))
    }

    mutating func succeeded() { self = Backoff() }
}
