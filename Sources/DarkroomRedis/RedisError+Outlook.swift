extension RedisError {
    /// Whether a retry can help.
    package enum Outlook: Sendable, Equatable {
        /// The connection was lost, or the server is not ready (loading, failover, slot migration): wait and retry.
        case passing
        /// The server is out of memory: retry after data has been removed.
        case full
        /// A retry cannot help until the cause is fixed.
        case lasting
    }

    /// Whether a retry can help. All code classifies Redis failures by this property.
    ///
    /// The property does not say whether the command was executed; see ``RedisError``.
    package var outlook: Outlook {
        switch code {
        case .cannotConnect, .disconnected, .timedOut: .passing
        case .server:
            switch serverErrorName {
            case "OOM": .full
            case .some(let name) where Self.passingReplies.contains(name): .passing
            default: .lasting
            }
        default: .lasting
        }
    }

    /// Whether waiting and retrying can help without action by an operator.
    package var isPassing: Bool { outlook == .passing }

    /// The first words of temporary error replies.
    private static let passingReplies = misplacedReplies.union([
        "TRYAGAIN", "ASK", "MOVED",  // the slot is migrating, or its new node does not reply
        "NOREPLICAS", "MISCONF",  // not enough replicas, or the disk cannot be written
        "BUSY",  // a script runs too long
        "UNBLOCKED",  // the server became a replica while a command waited
    ])

    /// The first words of replies from a server that cannot serve now. The client then tries another server.
    static let misplacedReplies: Set = ["READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN"]
}
