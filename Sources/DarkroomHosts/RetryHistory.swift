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
    /// The photo waits until this time; nil if it does not wait, or if nobody knows for how long.
    package var next: ContinuousClock.Instant?

    package init() {}
}
