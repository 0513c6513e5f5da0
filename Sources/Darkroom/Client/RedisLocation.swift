import DarkroomRedis

/// The address of a Redis, the credentials for it, and the namespace of the keys.
public struct RedisLocation: Sendable, CustomStringConvertible {
    package let redis: RedisConfiguration
    package let keys: Keys

    /// Creates a location without connecting.
    ///
    /// - `redis://[user:password@]host[:port][/database]`; the host may be any node of a Redis Cluster.
    /// - `rediss://...`: the same with TLS.
    /// - `unix://[user:password@]/path`: a Unix-domain socket.
    /// - `redis+sentinel://[user:password@]host[:port][,host[:port]...]/service[/database]`: the master of the service according to
    ///   these sentinels; `?sentinel-user=...&sentinel-password=...` for sentinels that require them.
    /// - `rediss+sentinel://...`: the same with TLS, to the sentinels and to the master.
    ///
    /// User, password and service must be percent-encoded if necessary.
    /// - Parameters:
    ///   - url: the URL.
    ///   - namespace: the prefix of all keys: letters, digits, `_`, `.` and `-`.
    ///   - password: the password if the URL has none.
    ///   - authorities: a file with the certificate authorities (PEM) for the server's certificate; nil for those of the system.
    ///   - certificate: a file with the client certificate (PEM); nil if the server requires none.
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
