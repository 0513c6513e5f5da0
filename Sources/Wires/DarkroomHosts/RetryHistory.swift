/// The results of the download attempts of a photo so far. A worker that releases an operation passes this history on
/// to the worker that continues with the photo.
package struct RetryHistory: Sendable, Equatable {
    /// Download attempts that failed in a row.
    package struct Failures: Sendable, Equatable {
        /// The time at which the first of these attempts failed.
        package var since: ContinuousClock.Instant
        package var count: Int

        package init(since: ContinuousClock.Instant, count: Int) {
            self.since = since
            self.count = count
        }
    }

    /// The number of all download attempts.
    package var attempts = 0
    /// The failed attempts in a row that the host answered, for example with status 500 or with a part of the body; nil
    /// if there are none.
    package var failures: Failures?
    /// The attempts in a row that the host refused or did not answer; nil if there are none.
    package var troubles: Failures?
    /// The earliest time of the next attempt; nil if the attempt may begin as soon as the host gets requests.
    package var next: ContinuousClock.Instant?

    package init() {}

    /// Returns the history after a time in which no worker worked on the photo. Only the planned wait until ``next`` counts
    /// for the retry time and the patience. Therefore a photo does not fail because its batch was suspended, or because no
    /// worker was running.
    /// - Parameter left: the time at which the last worker stopped working on the photo.
    package func resumed(at now: ContinuousClock.Instant, leftAt left: ContinuousClock.Instant) -> RetryHistory {
        let idle = now - max(left, min(next ?? left, now))
        var history = self
        history.failures?.since += idle
        history.troubles?.since += idle
        return history
    }
}
