import Foundation

/// Where a Redis is, and how to get in.
public struct RedisConfiguration: Sendable, Equatable {
    /// How a server is reached.
    public enum Address: Sendable, Equatable {
        /// TCP, with TLS when ``RedisConfiguration/tls`` is set.
        case tcp(host: String, port: Int)
        /// The path of a Unix-domain socket.
        case unix(path: String)
    }

    /// Files (PEM) for TLS.
    public struct TLS: Sendable, Equatable {
        /// Certificates of the authorities that the server's must be signed by; nil: those of the system.
        public var authorities: String?
        /// The certificate shown to the server, for servers that want one.
        public var certificate: String?
        /// The private key of ``certificate``.
        public var key: String?

        /// TLS with the system's authorities and without a certificate, unless given.
        public init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
            self.authorities = authorities
            self.certificate = certificate
            self.key = key
        }
    }

    /// Where the server is.
    public var address: Address
    /// The user to authenticate as; nil: the default user.
    public var user: String?
    /// The password; nil: no authentication.
    public var password: String?
    /// The number of the database to select.
    public var database = 0
    /// Whether and how TLS is spoken; nil: not. Only for TCP.
    public var tls: TLS?
    /// How long connecting may take, from the name lookup to the loaded scripts.
    public var connectTimeout: Duration = .seconds(5)
    /// How long a server may be silent while a reply is due before the connection is given up. A command that blocks
    /// on purpose must come back sooner.
    public var replyTimeout: Duration = .seconds(10)

    /// A server at `address`, without TLS and password.
    public init(address: Address) {
        self.address = address
    }

    /// A server by its URL: `redis://[user:password@]host[:port][/database]`, `rediss://...` (TLS), or
    /// `unix://[user:password@]/path`. User and password are percent-encoded where they need it.
    public init(url: String) throws(RedisError) {
        // The URL may hold a password, so no message shows it whole.
        func invalid(_ found: String) -> RedisError {
            RedisError(
                .invalidAddress, "read the address of Redis",
                "\(found); it must look like redis://[user:password@]host[:port][/database], rediss://... for TLS,"
                    + " or unix:///path/of/socket, with user and password percent-encoded")
        }
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased() else {
            throw invalid("it is no URL")
        }
        guard ["redis", "rediss", "unix"].contains(scheme) else { throw invalid("found the scheme \"\(scheme)\"") }
        guard parts.query == nil, parts.fragment == nil else { throw invalid("found a \"?\" or \"#\"") }

        let host = (parts.host ?? "").trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        if scheme == "unix" {
            guard host.isEmpty, parts.path.hasPrefix("/"), parts.path.count > 1 else {
                throw invalid("found no absolute path after unix://")
            }
            self.init(address: .unix(path: parts.path))
        } else {
            guard !host.isEmpty else { throw invalid("found no host") }
            let port = parts.port ?? 6379
            guard (1...65_535).contains(port) else { throw invalid("found the port \(port)") }
            self.init(address: .tcp(host: host, port: port))
            let path = parts.path.drop { $0 == "/" }
            guard let database = path.isEmpty ? 0 : Int(path), database >= 0 else {
                throw invalid("found the database \"\(path)\", which is no number")
            }
            self.database = database
            tls = scheme == "rediss" ? TLS() : nil
        }
        user = parts.user.flatMap { $0.isEmpty ? nil : $0 }
        password = parts.password
        if user != nil && password == nil { throw invalid("found a user without a password") }
    }

    /// The address as errors and logs show it: never with user or password.
    public var displayName: String {
        switch address {
        case .unix(let path): "unix://\(path)"
        case .tcp(let host, let port):
            (tls == nil ? "redis://" : "rediss://") + Self.bracketed(host) + ":\(port)"
                + (database == 0 ? "" : "/\(database)")
        }
    }

    /// A host as URLs write it: IPv6 addresses in brackets.
    static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}
