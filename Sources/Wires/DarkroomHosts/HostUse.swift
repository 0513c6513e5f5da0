/// What a worker does with a host, and what it has learned about the host since the last exchange with other workers.
package struct HostUse: Sendable, Equatable {
    /// A number that was raised or lowered.
    package enum Change: Sendable, Equatable {
        case raised(to: Int)
        case lowered(to: Int)
    }

    package let host: String
    /// The number of requests under way.
    package var running = 0
    /// The number of requests that the worker would send at the same time; 0: the worker leaves the host.
    package var wanted = 0
    /// How many requests at the same time the worker has found to be right for the host.
    package var limit: Int
    /// The largest number of requests that the worker ever sends at the same time.
    package var most: Int
    package var limitChange: Change?
    /// In requests per 1,000 s; lowered to 0: the host has no rate any more.
    package var rateChange: Change?
    /// The new state; nil if it has not changed.
    package var state: SharedHostState?
    /// The time since the last answer (for a host in trouble that never answered: since the first request); nil if it is
    /// not known.
    package var answered: Duration?

    /// The largest number of requests that is shared.
    package static let mostRequests = 10_000

    package init(host: String, limit: Int, most: Int) {
        self.host = host
        self.limit = min(limit, Self.mostRequests)
        self.most = min(most, Self.mostRequests)
    }
}
