import DarkroomRedis

/// What a Redis must be like so that nothing is lost in it, checked by whoever begins to work with it.
public enum RedisRequirements {
    private static let oldestMajorVersion = 7

    /// Checks version and eviction policy of a Redis. Blocks.
    ///
    /// It uses a connection of its own, without scripts: a Redis that is too old cannot load them.
    /// - Returns: what is no hindrance but should be known, a sentence each.
    /// - Throws: ``StoreError`` with the code `unsuitableRedis`, which says what to change, or `redis`.
    public static func check(_ configuration: RedisConfiguration) throws(StoreError) -> [String] {
        let connection = RedisConnection(configuration)
        defer { connection.close() }
        let information: RedisValue
        do throws(RedisError) {
            // All sections: before 7.0 INFO takes one at a time.
            information = try connection.call(RedisCommand("INFO"))
        } catch {
            throw StoreError(.redis, error.description, redis: error)
        }
        return try check(information: information.string ?? "", of: configuration.displayName)
    }

    /// Checks what INFO answered.
    static func check(information: String, of redis: String) throws(StoreError) -> [String] {
        var fields: [Substring: Substring] = [:]
        for line in information.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon]] = line[line.index(after: colon)...]
        }
        // Valkey gives here the version of Redis that it is compatible with.
        let version = fields["redis_version"] ?? "none"
        guard let major = version.split(separator: ".").first.flatMap({ Int($0) }), major >= oldestMajorVersion else {
            throw StoreError(
                .unsuitableRedis,
                "\(redis): this Redis is too old: found version \(version), needed is \(oldestMajorVersion).0 or newer, "
                    + "or Valkey; install one of them there, or name another Redis")
        }
        var warnings: [String] = []
        if fields["role"] == "slave" {
            let master = "\(fields["master_host"] ?? "?"):\(fields["master_port"] ?? "?")"
            warnings.append(
                "\(redis): this Redis is a replica of \(master), where nothing can be changed; name its master, or let "
                    + "sentinels name it: redis+sentinel://host:port/service")
        }
        guard let policy = fields["maxmemory_policy"], policy != "noeviction" else { return warnings }
        let found = "\(redis): found maxmemory-policy \(policy)"
        if policy.hasPrefix("volatile-") {
            return warnings + ["\(found): no key of Darkroom expires, so none is evicted, but noeviction is safer"]
        }
        throw StoreError(
            .unsuitableRedis,
            "\(found): a full Redis would throw away photos that are queued; set \"maxmemory-policy noeviction\" in its "
                + "configuration, or now: redis-cli CONFIG SET maxmemory-policy noeviction")
    }
}
