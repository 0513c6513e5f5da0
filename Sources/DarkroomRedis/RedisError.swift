/// The failure of a command, a connection or a private redis-server.
///
/// With the codes ``Code/cannotConnect``, ``Code/tlsFailed`` and ``Code/authenticationFailed``, the command was not
/// sent. After ``Code/disconnected`` and ``Code/timedOut`` it is unknown whether the server executed the command:
/// repeat the command only if it is idempotent.
package struct RedisError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure. Later versions may add codes.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String {
            case invalidAddress = "invalid-address"
            case cannotConnect = "cannot-connect"
            case tlsFailed = "tls-failed"
            case authenticationFailed = "authentication-failed"
            case disconnected
            case timedOut = "timed-out"
            case protocolError = "protocol-error"
            case server = "server-error"
            case closed
            case cannotStartServer = "cannot-start-server"
        }

        private let kind: Kind

        /// The given address is invalid.
        package static let invalidAddress = Code(kind: .invalidAddress)
        /// The server is unreachable or not ready yet. A later retry can help.
        package static let cannotConnect = Code(kind: .cannotConnect)
        /// TLS failed: a certificate or host name was rejected, or only one of client and server uses TLS.
        package static let tlsFailed = Code(kind: .tlsFailed)
        /// The user or password is wrong or missing, or the server has no authentication and a password was given.
        package static let authenticationFailed = Code(kind: .authenticationFailed)
        /// The connection was lost after at least part of the command was sent.
        package static let disconnected = Code(kind: .disconnected)
        /// No reply arrived within ``RedisConfiguration/replyTimeout``, so the connection was closed.
        package static let timedOut = Code(kind: .timedOut)
        /// The reply violates the Redis protocol.
        package static let protocolError = Code(kind: .protocolError)
        /// The server replied with an error, see ``RedisError/serverReply``.
        package static let server = Code(kind: .server)
        /// This program closed the connection.
        package static let closed = Code(kind: .closed)
        /// A private redis-server did not start.
        package static let cannotStartServer = Code(kind: .cannotStartServer)

        /// A fixed short name without variable parts, for metric labels.
        package var description: String { kind.rawValue }
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
