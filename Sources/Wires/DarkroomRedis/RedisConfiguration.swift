/// The address of a Redis server, with the settings for connecting and authenticating.
package struct RedisConfiguration: Sendable, Equatable {
    package enum Address: Sendable, Equatable {
        /// A TCP address, with TLS if ``RedisConfiguration/tls`` is set. For a Redis Cluster, the address of any node:
        /// the connection follows redirections to the node that holds the keys.
        case tcp(host: String, port: Int)
        case unix(path: String)
        /// The addresses of sentinels, and the service whose master they report. The connections to sentinels and to
        /// the master use TCP, with TLS if ``RedisConfiguration/tls`` is set.
        case sentinels([Endpoint], service: String)
    }

    package struct Endpoint: Sendable, Hashable, CustomStringConvertible {
        /// A host name or IP address. IPv6 addresses have no brackets.
        package var host: String
        package var port: Int

        package init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// `host:port` as in URLs, with IPv6 addresses in brackets.
        package var description: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
    }

    /// The PEM files for TLS.
    package struct TLS: Sendable, Equatable {
        /// The certificate authorities that may sign the server's certificate; nil: the authorities of the system.
        package var authorities: String?
        /// The client certificate, for servers that require one.
        package var certificate: String?
        /// The private key of ``certificate``.
        package var key: String?

        /// Creates TLS settings, by default with the system's certificate authorities and without a client certificate.
        package init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
            self.authorities = authorities
            self.certificate = certificate
            self.key = key
        }
    }

    package var address: Address
    /// The user to authenticate as; nil: the default user.
    package var user: String?
    /// The password; nil: no authentication.
    package var password: String?
    /// The user to authenticate as when connecting to sentinels; nil: the default user.
    package var sentinelUser: String?
    /// The password of the sentinels; nil: no authentication with the sentinels.
    package var sentinelPassword: String?
    /// The number of the database to select.
    package var database = 0
    /// The TLS settings; nil: no TLS. Ignored for Unix-domain sockets.
    package var tls: TLS?
    /// The time limit for connecting, which includes the name lookup, the handshake and the loading of scripts.
    package var connectTimeout: Duration = .seconds(5)
    /// If no data arrives for this time while a reply is pending, the connection is closed. The timeout of a blocking
    /// command must be shorter.
    package var replyTimeout: Duration = .seconds(10)

    /// The settings for a server at `address`, without TLS and without a password.
    package init(address: Address) {
        self.address = address
    }

    /// Sets the files for TLS.
    /// - Parameter names: the names of the authorities, the certificate and the key in error messages.
    /// - Throws: ``RedisError`` with the code `invalidAddress` if there are files but the address has no TLS, or if
    ///   only the certificate or only the key is given.
    package mutating func setFiles(
        _ files: TLS, names: [String] = ["authorities", "certificate", "key"]
    ) throws(RedisError) {
        let given = zip(names, [files.authorities, files.certificate, files.key]).first { $1 != nil }
        if let (name, _) = given, tls == nil {
            throw RedisError(
                .invalidAddress, "configure TLS", "\(name): only for rediss://, but the address is \(displayName)")
        }
        guard (files.certificate == nil) == (files.key == nil) else {
            throw RedisError(
                .invalidAddress, "configure TLS",
                "\(names[1]) and \(names[2]): a certificate and its key go together; give both")
        }
        if tls != nil { tls = files }
    }

    /// The address for error messages and logs, without user and password.
    package var displayName: String {
        let secure = tls == nil ? "" : "s"
        let path = database == 0 ? "" : "/\(database)"
        return switch address {
        case .unix(let path): "unix://\(path)"
        case .tcp(let host, let port): "redis\(secure)://\(Endpoint(host: host, port: port))\(path)"
        case .sentinels(let endpoints, let service):
            "redis\(secure)+sentinel://\(endpoints.map(\.description).joined(separator: ","))/\(service)\(path)"
        }
    }

    /// The same settings for another server, with a connect timeout of at most `timeout`.
    func server(at endpoint: Endpoint, within timeout: Duration) -> RedisConfiguration {
        var server = self
        server.address = .tcp(host: endpoint.host, port: endpoint.port)
        server.connectTimeout = min(connectTimeout, timeout)
        return server
    }

    /// The settings for a sentinel: its user and password, and database 0, because sentinels have no databases.
    func sentinel(at endpoint: Endpoint, within timeout: Duration) -> RedisConfiguration {
        var sentinel = server(at: endpoint, within: timeout)
        sentinel.user = sentinelUser
        sentinel.password = sentinelPassword
        sentinel.database = 0
        return sentinel
    }
}
