/// Where a Redis is, and how to get in.
package struct RedisConfiguration: Sendable, Equatable {
    /// How a server is reached.
    package enum Address: Sendable, Equatable {
        /// TCP, with TLS when ``RedisConfiguration/tls`` is set. A node of a Redis Cluster is as good as any other: the
        /// one that has the keys is found from there.
        case tcp(host: String, port: Int)
        /// The path of a Unix-domain socket.
        case unix(path: String)
        /// The master that sentinels name for a service, by TCP (with TLS for both when ``RedisConfiguration/tls`` is set).
        case sentinels([Endpoint], service: String)
    }

    /// A host and its port.
    package struct Endpoint: Sendable, Hashable, CustomStringConvertible {
        /// A name or an address, IPv6 without brackets.
        package var host: String
        /// The port.
        package var port: Int

        /// A host and its port.
        package init(host: String, port: Int) {
            self.host = host
            self.port = port
        }

        /// `host:port`, as URLs write it: IPv6 addresses in brackets.
        package var description: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
    }

    /// Files (PEM) for TLS.
    package struct TLS: Sendable, Equatable {
        /// Certificates of the authorities that the server's must be signed by; nil: those of the system.
        package var authorities: String?
        /// The certificate shown to the server, for servers that want one.
        package var certificate: String?
        /// The private key of ``certificate``.
        package var key: String?

        /// TLS with the system's authorities and without a certificate, unless given.
        package init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
            self.authorities = authorities
            self.certificate = certificate
            self.key = key
        }
    }

    /// Where the server is.
    package var address: Address
    /// The user to authenticate as; nil: the default user.
    package var user: String?
    /// The password; nil: no authentication.
    package var password: String?
    /// The user to authenticate as at the sentinels; nil: the default user.
    package var sentinelUser: String?
    /// The password of the sentinels; nil: no authentication there.
    package var sentinelPassword: String?
    /// The number of the database to select.
    package var database = 0
    /// Whether and how TLS is spoken; nil: not. Not for Unix-domain sockets.
    package var tls: TLS?
    /// How long connecting may take, from the name lookup to the loaded scripts.
    package var connectTimeout: Duration = .seconds(5)
    /// How long a server may be silent while a reply is due before the connection is given up. A command that blocks
    /// on purpose must come back sooner.
    package var replyTimeout: Duration = .seconds(10)

    /// A server at `address`, without TLS and password.
    package init(address: Address) {
        self.address = address
    }

    /// The address as errors and logs show it: never with user or password.
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

    /// The same way in to another server; `timeout` for connecting, unless its own is shorter.
    func server(at endpoint: Endpoint, within timeout: Duration) -> RedisConfiguration {
        var server = self
        server.address = .tcp(host: endpoint.host, port: endpoint.port)
        server.connectTimeout = min(connectTimeout, timeout)
        return server
    }

    /// The way in to a sentinel: with its own user and password, and none of the databases it does not have.
    func sentinel(at endpoint: Endpoint, within timeout: Duration) -> RedisConfiguration {
        var sentinel = server(at: endpoint, within: timeout)
        sentinel.user = sentinelUser
        sentinel.password = sentinelPassword
        sentinel.database = 0
        return sentinel
    }
}
