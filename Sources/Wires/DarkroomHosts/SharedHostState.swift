/// The state of a host, with times relative to now, because workers have different clocks.
package enum SharedHostState: Sendable, Equatable {
    package enum Trouble: String, Sendable { case paused, down }

    case up
    /// The host has been paused or down since `since` ago, and gets the next request in `next`. `count` is the number
    /// of refusals or probes in a row.
    case troubled(Trouble, since: Duration, next: Duration, count: Int)
}
