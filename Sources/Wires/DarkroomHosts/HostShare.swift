/// A worker's share of a host, and what all workers have learned about the host.
package struct HostShare: Sendable, Equatable {
    /// The number of requests that the worker may have under way.
    package var permits: Int
    /// The number of workers that use the host.
    package var users = 1
    /// The sum of the permits of all workers.
    package var all: Int
    /// Whether hosts cannot be shared at all, so that this worker must act as if it were the only one.
    package var isAlone = false
    /// Whether a worker waits for its share.
    package var isContended = false
    /// The number of requests that all workers together may have under way; nil if no worker has learned this number.
    package var limit: Int?
    /// The learned rate of requests, in requests per 1,000 s; nil if the host has not refused requests.
    package var rate: Int?
    /// The version of ``state``, which grows with each change of the state.
    package var version = 0
    /// The state that a worker has told; nil if no worker has told a state.
    package var state: SharedHostState?
    /// The time since the last answer of the host; nil if this time is not known.
    package var answered: Duration?

    package init(permits: Int) {
        self.permits = permits
        all = permits
    }

    /// The share of a worker that cannot share hosts.
    package static var alone: HostShare {
        var share = HostShare(permits: HostUse.mostRequests)
        share.isAlone = true
        return share
    }
}
