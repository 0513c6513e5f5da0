extension RedisError {
    /// What is to be expected of trying again.
    package enum Outlook: Sendable, Equatable {
        /// The connection was lost or the server is not ready (it loads, fails over, cannot write for now, its keys are
        /// being moved): wait and try again.
        case passing
        /// The server has no memory left: try again when something has been taken out of it.
        case full
        /// Trying again does not help before somebody has changed something.
        case lasting
    }

    /// What is to be expected of trying again; the one place where failures of Redis are sorted.
    ///
    /// Whether the command was carried out is another question, see ``RedisError``.
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

    /// Whether waiting and trying again can help while nobody changes anything.
    package var isPassing: Bool { outlook == .passing }

    /// First words of replies that pass.
    private static let passingReplies = misplacedReplies.union([
        "TRYAGAIN", "ASK", "MOVED",  // the slot is being moved, or was and its new node does not answer
        "NOREPLICAS", "MISCONF",  // a replica, or the disk, is missing
        "BUSY",  // a script of somebody runs too long
        "UNBLOCKED",  // the server became a replica while a command waited
    ])

    /// First words of replies of a server that is not, or not now, the one to talk to: connect again, perhaps to another.
    static let misplacedReplies: Set = ["READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN"]
}
