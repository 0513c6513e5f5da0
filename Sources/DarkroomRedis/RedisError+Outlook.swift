extension RedisError {
    /// Whether trying again can help.
    package enum Outlook: Sendable, Equatable {
        /// The connection was lost, or the server is not ready (loading, failover, writes suspended, slot migration):
        /// wait and try again.
        case passing
        /// The server is out of memory: try again after data has been removed.
        case full
        /// Trying again does not help until the cause is fixed.
        case lasting
    }

    /// Whether trying again can help. All code classifies Redis failures by this property.
    ///
    /// It does not say whether the command was executed; see ``RedisError``.
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

    /// Whether waiting and trying again can help without a change by an operator.
    package var isPassing: Bool { outlook == .passing }

    /// First words of temporary error replies.
    private static let passingReplies = misplacedReplies.union([
        "TRYAGAIN", "ASK", "MOVED",  // the slot is migrating, or its new node does not reply
        "NOREPLICAS", "MISCONF",  // not enough replicas, or the disk cannot be written
        "BUSY",  // a script runs too long
        "UNBLOCKED",  // the server became a replica while a command waited
    ])

    /// First words of replies from a server that cannot serve now. The client connects again, if possible to another
    /// server.
    static let misplacedReplies: Set = ["READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN"]
}
