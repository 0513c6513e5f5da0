/// The failure of a command, a connection or a private redis-server.
///
/// Errors with the codes ``Code/cannotConnect``, ``Code/tlsFailed`` and ``Code/authenticationFailed`` mean that the
/// command was not sent. After ``Code/disconnected`` and ``Code/timedOut`` it is unknown whether the server executed
/// the command: repeat it only if it is idempotent.
package struct RedisError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure; new codes may be added.
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
        /// The server is unreachable or not ready yet; trying again later can help.
        package static let cannotConnect = Code(kind: .cannotConnect)
        /// TLS failed: a certificate or host name was rejected, or one side does not use TLS.
        package static let tlsFailed = Code(kind: .tlsFailed)
        /// User or password is wrong, missing, or given to a server without authentication.
        package static let authenticationFailed = Code(kind: .authenticationFailed)
        /// The connection was lost after the command was sent at least in part.
        package static let disconnected = Code(kind: .disconnected)
        /// No reply within ``RedisConfiguration/replyTimeout``; the connection was closed.
        package static let timedOut = Code(kind: .timedOut)
        /// The reply violates the Redis protocol.
        package static let protocolError = Code(kind: .protocolError)
        /// The server replied with an error, see ``RedisError/serverReply``.
        package static let server = Code(kind: .server)
        /// This program closed the connection.
        package static let closed = Code(kind: .closed)
        /// A private redis-server did not start.
        package static let cannotStartServer = Code(kind: .cannotStartServer)

        /// A short form without variable parts, for metric labels.
        package var description: String { kind.rawValue }
    }

    package let code: Code
    /// The attempted action and its target: `connect to redis://127.0.0.1:6379`.
    package let attempted: String
    /// The finding, and what to do.
    package let message: String
    /// The server's unchanged error reply, if there was one: `WRONGTYPE Operation against a key...`.
    package let serverReply: String?

    init(_ code: Code, _ attempted: String, _ message: String, serverReply: String? = nil) {
        self.code = code
        self.attempted = attempted
        self.message = message
        self.serverReply = serverReply
    }

    /// The first word of the server's error reply: `WRONGTYPE`, `OOM`, `NOPERM`...; nil for other errors.
    package var serverErrorName: String? {
        serverReply.map { String($0.prefix { $0 != " " }) }
    }

    /// One line: the attempted action, the finding, what to do.
    package var description: String { "\(attempted): \(message)" }
}
