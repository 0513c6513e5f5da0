/// The failure of a command, a connection or a private redis-server.
///
/// If the code is ``Code/cannotConnect``, ``Code/tlsFailed`` or ``Code/authenticationFailed``, the command was not
/// sent. After ``Code/disconnected`` and ``Code/timedOut`` it is unknown whether the server executed the command:
/// repeat the command only if it is idempotent.
package struct RedisError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: Sendable {
        /// The given address is invalid.
        case invalidAddress
        /// The server is unreachable or not ready yet. A later retry can help.
        case cannotConnect
        /// TLS failed: a certificate or host name was rejected, or only one of the two sides uses TLS.
        case tlsFailed
        /// The user or password is wrong or missing, or a password was given but the server requires none.
        case authenticationFailed
        /// The connection was lost after at least part of the command was sent.
        case disconnected
        /// No data arrived within ``RedisConfiguration/replyTimeout`` for a pending reply, so the connection was
        /// closed.
        case timedOut
        /// The reply violates the Redis protocol.
        case protocolError
        /// The server replied with an error, see ``RedisError/serverReply``.
        case server
        /// This program closed the connection.
        case closed
        /// A private redis-server did not start.
        case cannotStartServer
    }

    package let code: Code
    /// The attempted action and its target, for example `connect to redis://127.0.0.1:6379`.
    package let attempted: String
    /// The cause, and what to do.
    package let message: String
    /// The unchanged error reply of the server, for example `WRONGTYPE Operation against...`; nil for other errors.
    package let serverReply: String?

    init(_ code: Code, _ attempted: String, _ message: String, serverReply: String? = nil) {
        self.code = code
        self.attempted = attempted
        self.message = message
        self.serverReply = serverReply
    }

    /// The first word of the server's error reply, for example `WRONGTYPE` or `OOM`; nil for other errors.
    package var serverErrorName: String? {
        serverReply.map { String($0.prefix { $0 != " " }) }
    }

    /// One line: the attempted action, the cause, and what to do.
    package var description: String { "\(attempted): \(message)" }
}

extension RedisError {
    /// Whether another attempt can help.
    package enum Outlook: Sendable, Equatable {
        /// The connection was lost, or the server is not ready (loading, failover, writes suspended, slot migration):
        /// wait and try again.
        case passing
        /// The server is out of memory: try again after data has been removed.
        case full
        /// Another attempt does not help until the cause is fixed.
        case lasting
    }

    /// Whether another attempt can help. All code classifies Redis failures by this property.
    ///
    /// The outlook does not tell whether the command was executed; see ``RedisError``.
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

    /// Whether a later attempt can succeed without a person who removes data or changes a setting.
    package var isPassing: Bool { outlook == .passing }

    /// The first words of temporary error replies.
    private static let passingReplies = misplacedReplies.union([
        "TRYAGAIN", "ASK", "MOVED",  // the slot is migrating, or its new node does not reply
        "NOREPLICAS", "MISCONF",  // not enough replicas, or the disk cannot be written
        "BUSY",  // a script runs too long
        "UNBLOCKED",  // the server became a replica while a command waited
    ])

    /// The first words of error replies from a server that cannot execute commands now. After such a reply, the client
    /// connects again, to another server if the client knows one.
    static let misplacedReplies: Set = ["READONLY", "LOADING", "MASTERDOWN", "CLUSTERDOWN"]
}
