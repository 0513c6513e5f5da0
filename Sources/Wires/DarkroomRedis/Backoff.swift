/// The delay before the next connection attempt. Its maximum is 50 ms after the first failure, and doubles with each
/// further failure up to 0.5 s. The delay is random, between half of the maximum and the maximum, so that many clients
/// do not reconnect at the same time.
///
/// The largest maximum is only 0.5 s, because the leases of a worker that reconnects much later than others would
/// expire.
struct Backoff {
    /// The earliest time of the next attempt; nil if the next attempt need not wait.
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
