/// The use of a host by a worker, and the facts that the worker has learned about the host since the last exchange.
package struct HostUse: Sendable, Equatable {
    /// The change of a number.
    package enum Change: Sendable, Equatable {
        case raised(to: Int)
        case lowered(to: Int)
    }

    package let host: String
    /// The number of requests under way.
    package var running = 0
    /// The number of requests that the worker wants to have under way; 0: the worker no longer needs the host.
    package var wanted = 0
    /// The number of simultaneous requests that suits the host, as far as the worker has learned this number.
    package var limit: Int
    /// The largest number of requests that the worker may ever have under way.
    package var most: Int
    package var limitChange: Change?
    /// The change of the rate, in requests per 1,000 s. A rate that is lowered to 0 has been removed.
    package var rateChange: Change?
    /// The new state; nil if the state has not changed.
    package var state: SharedHostState?
    /// The time since the last answer; for a host in trouble that never answered, the time since the first request. Nil
    /// if this time is not known.
    package var answered: Duration?

    /// The largest value of ``running``, ``wanted``, ``limit`` and ``most`` that the workers exchange.
    package static let mostRequests = 10_000

    package init(host: String, limit: Int, most: Int) {
        self.host = host
        self.limit = min(limit, Self.mostRequests)
        self.most = min(most, Self.mostRequests)
    }
}
