import DarkroomRedis

/// The address of Redis, the credentials for it, and the namespace of the keys.
public struct RedisLocation: Sendable, CustomStringConvertible {
    package let redis: RedisConfiguration
    package let keys: Keys

    /// Creates a location without connecting.
    ///
    /// - `redis://[user:password@]host[:port][/database]`; the host may be any node of a Redis Cluster.
    /// - `rediss://...`: the same with TLS.
    /// - `unix://[user:password@]/path`: a Unix-domain socket.
    /// - `redis+sentinel://[user:password@]host[:port][,host[:port]...]/service[/database]`: the master that these
    ///   sentinels report for the service. `?sentinel-user=...&sentinel-password=...` contains the credentials for the
    ///   sentinels.
    /// - `rediss+sentinel://...`: the same with TLS for the sentinels and the master.
    ///
    /// Special characters in user, password and service must be percent-encoded.
    /// - Parameters:
    ///   - url: the URL.
    ///   - namespace: the prefix of all keys. It consists of letters, digits, `_`, `.` and `-`.
    ///   - password: the password to use if the URL does not contain one.
    ///   - authorities: a PEM file with the certificate authorities that may sign the server's certificate; nil for the
    ///     certificate authorities of the system.
    ///   - certificate: a PEM file with the client certificate; nil if the server does not require one.
    ///   - key: a PEM file with the private key of the client certificate.
    /// - Throws: ``DarkroomError`` with the code `invalidConfiguration`.
    public init(
        _ url: String, namespace: String = "darkroom", password: String? = nil, authorities: String? = nil,
        certificate: String? = nil, key: String? = nil
    ) throws {
        do {
            var redis = try RedisConfiguration(url: url, password: password)
            try redis.setFiles(.init(authorities: authorities, certificate: certificate, key: key))
            self.init(redis, try Keys(namespace: namespace))
        } catch {
            throw DarkroomError(.invalidConfiguration, "locate a Redis", "\(error)", cause: error)
        }
    }

    package init(_ redis: RedisConfiguration, _ keys: Keys) {
        self.redis = redis
        self.keys = keys
    }

    /// The address, without user and password.
    public var description: String { redis.displayName }
}
