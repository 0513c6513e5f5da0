/// The delay before the next connection attempt: up to 50 ms after the first failure, doubled after each further
/// failure, at most 0.5 s. The delay is random between half of that and all of it, so that many clients do not
/// reconnect at the same time.
///
/// The limit is 0.5 s because other workers take over the leases of a worker that reconnects much later than they do.
struct Backoff {
    /// The earliest time of the next attempt; nil: at once.
    private(set) var nextAttempt: ContinuousClock.Instant?
    private var failures = 0

    func mustWait(at now: ContinuousClock.Instant) -> Bool { nextAttempt.map { now < $0 } ?? false }

    mutating func failed(at now: ContinuousClock.Instant) {
        let longest = min(50 << min(failures, 10), 500)
        failures += 1
        nextAttempt = now + .milliseconds(Int.random(in: longest / 2...longest))
    }

    mutating func succeeded() { self = Backoff() }
}
