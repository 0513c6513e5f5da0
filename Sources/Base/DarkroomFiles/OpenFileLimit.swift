import Glibc

/// The number of files and sockets that this process may open: `RLIMIT_NOFILE`, see getrlimit(2).
package enum OpenFileLimit {
    /// The number of descriptors for other purposes: connections to Redis, photos, uploads.
    package static let reserved = 512

    /// Raises the limit of this process, if the system allows it, so that the process can have this many connections.
    /// - Returns: the number of connections that the limit allows, at most `connections`.
    package static func raise(forConnections connections: Int) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return connections }
        let wanted = rlim_t(connections + reserved)
        if limit.rlim_cur < wanted {
            var raised = limit
            raised.rlim_cur = min(wanted, limit.rlim_max)
            if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
        }
        guard limit.rlim_cur < wanted else { return connections }
        // If the limit is less than twice `reserved`, half of the descriptors are for connections.
        return max(Int(limit.rlim_cur) - reserved, Int(limit.rlim_cur) / 2)
    }
}
