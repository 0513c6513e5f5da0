/// The state of a host, with times relative to now, because workers have different clocks.
package enum SharedHostState: Sendable, Equatable {
    package enum Trouble: String, Sendable { case paused, down }

    case up
    /// The host has been paused or down for the time `since`, and may get the next request after the time `next`.
    /// `count` is the number of refusals or probes in a row.
    case troubled(Trouble, since: Duration, next: Duration, count: Int)
}
