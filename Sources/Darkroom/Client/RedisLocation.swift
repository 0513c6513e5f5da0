import DarkroomRedis

/// Which Redis, how to get in, and which keys there.
public struct RedisLocation: Sendable, CustomStringConvertible {
    package let redis: RedisConfiguration
    package let keys: Keys

    /// A location. Nothing is connected.
    ///
    /// - `redis://[user:password@]host[:port][/database]`; a node of a Redis Cluster will do.
    /// - `rediss://...`: the same with TLS.
    /// - `unix://[user:password@]/path`: a Unix-domain socket.
    /// - `redis+sentinel://[user:password@]host[:port][,host[:port]...]/service[/database]`: the master that these sentinels name
    ///   for the service; `?sentinel-user=...&sentinel-password=...` for sentinels that require them.
    /// - `rediss+sentinel://...`: the same with TLS, to the sentinels and to the master.
    ///
    /// User, password and service are percent-encoded where they need it.
    /// - Parameters:
    ///   - url: the URL.
    ///   - namespace: what all keys begin with: letters, digits, `_`, `.` and `-`.
    ///   - password: the password if the URL has none.
    ///   - authorities: a file of authorities (PEM) that sign the server's certificate; nil takes the system's.
    ///   - certificate: a file with the certificate (PEM) that the server asks for; nil if it asks for none.
    ///   - key: a file with the private key (PEM) of that certificate.
    /// - Throws: ``DarkroomError`` with the code `invalidConfiguration`.
    public init(
        _ url: String, namespace: String = "darkroom", password: String? = nil, authorities: String? = nil,
        certificate: String? = nil, key: String? = nil
    ) throws {
        do {
            var redis = try RedisConfiguration(url: url, password: password)
            if redis.tls != nil {
                redis.tls = RedisConfiguration.TLS(authorities: authorities, certificate: certificate, key: key)
            }
            self.init(redis, try Keys(namespace: namespace))
        } catch {
            throw DarkroomError(.invalidConfiguration, "locate a Redis", "\(error)", cause: error)
        }
    }

    package init(_ redis: RedisConfiguration, _ keys: Keys) {
        self.redis = redis
        self.keys = keys
    }

    /// The address without passwords.
    public var description: String { redis.displayName }
}
