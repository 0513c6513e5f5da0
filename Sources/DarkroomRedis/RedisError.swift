/// Why a command, a connection or a server of our own failed.
///
/// Errors with the codes ``Code/cannotConnect``, ``Code/tlsFailed`` and ``Code/authenticationFailed`` mean that the
/// command was not sent. After ``Code/disconnected`` and ``Code/timedOut`` nobody knows whether it was carried out:
/// send it again only when it does no harm twice.
package struct RedisError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure it is; more may be added.
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

        /// The address given is none.
        package static let invalidAddress = Code(kind: .invalidAddress)
        /// Nothing answers there, or what answers does not serve yet; trying again later can help.
        package static let cannotConnect = Code(kind: .cannotConnect)
        /// The two sides do not agree on TLS: certificates, names, or whether there is any.
        package static let tlsFailed = Code(kind: .tlsFailed)
        /// User or password are wrong, missing or not wanted.
        package static let authenticationFailed = Code(kind: .authenticationFailed)
        /// The connection was lost after the command was (at least partly) sent.
        package static let disconnected = Code(kind: .disconnected)
        /// No reply within ``RedisConfiguration/replyTimeout``; the connection was given up.
        package static let timedOut = Code(kind: .timedOut)
        /// What came back is not the protocol of Redis.
        package static let protocolError = Code(kind: .protocolError)
        /// The server answered the command with an error, see ``RedisError/serverReply``.
        package static let server = Code(kind: .server)
        /// The connection was closed on this side.
        package static let closed = Code(kind: .closed)
        /// A redis-server of our own did not come up.
        package static let cannotStartServer = Code(kind: .cannotStartServer)

        /// A short form without variable parts, for labels of metrics.
        package var description: String { kind.rawValue }
    }

    /// What kind of failure it is.
    package let code: Code
    /// What was tried, on what: `connect to redis://127.0.0.1:6379`.
    package let attempted: String
    /// What was found, and what to do.
    package let message: String
    /// The server's error reply where there was one, as it came: `WRONGTYPE Operation against a key...`.
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

    /// One line: what was tried, what was found, what to do.
    package var description: String { "\(attempted): \(message)" }
}
