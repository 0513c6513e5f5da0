/// What the attempts to download a photo have come to so far. A worker that releases an operation passes this on to the
/// worker that continues with the photo.
package struct RetryHistory: Sendable, Equatable {
    /// A number of attempts that failed in a row.
    package struct Failures: Sendable, Equatable {
        /// When the first one failed.
        package var since: ContinuousClock.Instant
        package var count: Int

        package init(since: ContinuousClock.Instant, count: Int) {
            self.since = since
            self.count = count
        }
    }

    /// The number of all attempts.
    package var attempts = 0
    /// The attempts that failed for reasons of this photo alone; nil if there are none.
    package var failures: Failures?
    /// The attempts that the host refused, or during which it was silent; nil if it has answered since.
    package var troubles: Failures?
    /// The next attempt does not begin before this time; nil if it may begin at once, or as soon as the host gets requests.
    package var next: ContinuousClock.Instant?

    package init() {}

    /// The history of a photo that nobody has tried to download since `left`. Of the time since then, only the wait for
    /// the next attempt counts, so that a photo does not fail because its batch was suspended or no worker was there.
    package func resumed(at now: ContinuousClock.Instant, leftAt left: ContinuousClock.Instant) -> RetryHistory {
        let idle = now - max(left, min(next ?? left, now))
        var history = self
        history.failures?.since += idle
        history.troubles?.since += idle
        return history
    }
}
