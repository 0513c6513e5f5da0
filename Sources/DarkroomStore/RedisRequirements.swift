import DarkroomRedis

/// The requirements of a Redis that loses no data, checked before a program works with it.
package enum RedisRequirements {
    private static let oldestMajorVersion = 7

    /// Checks version and eviction policy of a Redis. Blocks.
    ///
    /// The check uses a connection of its own without scripts, because a Redis that is too old cannot load them.
    /// - Returns: warnings, a sentence each.
    /// - Throws: ``StoreError`` with the code `unsuitableRedis`, whose text names the change to make, or `redis`.
    package static func check(_ configuration: RedisConfiguration) throws(StoreError) -> [String] {
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

    /// Checks the reply of INFO.
    static func check(information text: String, of redis: String) throws(StoreError) -> [String] {
        let information = ServerInformation(text)
        if let lack = versionLack(information) {
            throw StoreError(.unsuitableRedis, "\(redis): \(lack.meaning): found \(lack.found); \(lack.advice)")
        }
        var warnings: [String] = []
        if information["role"] == "slave" {
            let master = "\(information["master_host"] ?? "?"):\(information["master_port"] ?? "?")"
            warnings.append(
                "\(redis): this Redis is a replica of \(master), where nothing can be changed; name its master, or let "
                    + "sentinels name it: redis+sentinel://host:port/service")
        }
        guard let lack = evictionLack(information) else { return warnings }
        let found = "\(redis): found \(lack.found): \(lack.meaning)"
        guard lack.isHindrance else { return warnings + [found] }
        throw StoreError(.unsuitableRedis, "\(found); \(lack.advice)")
    }

    /// A requirement that a Redis does not meet.
    package struct Lack: Sendable {
        package let found: String
        /// The consequence.
        package let meaning: String
        /// The change to make.
        package let advice: String
        /// True if Darkroom must not work with this Redis.
        package var isHindrance = true
    }

    /// Non-nil if a Redis is too old.
    package static func versionLack(_ information: ServerInformation) -> Lack? {
        // Valkey reports the version of Redis that it is compatible with.
        let version = information["redis_version"] ?? "none"
        if let major = version.split(separator: ".").first.flatMap({ Int($0) }), major >= oldestMajorVersion {
            return nil
        }
        return Lack(
            found: "version \(version), needed is \(oldestMajorVersion).0 or newer, or Valkey",
            meaning: "this Redis is too old", advice: "install one of them there, or name another Redis")
    }

    /// Non-nil if a Redis evicts keys when it is full.
    package static func evictionLack(_ information: ServerInformation) -> Lack? {
        guard let policy = information["maxmemory_policy"], policy != "noeviction" else { return nil }
        let isHindrance = !policy.hasPrefix("volatile-")
        return Lack(
            found: "maxmemory-policy \(policy)",
            meaning: isHindrance
                ? "a full Redis would throw away photos that are queued"
                : "no key of Darkroom expires, so none is evicted, but noeviction is safer",
            advice: "set \"maxmemory-policy noeviction\" in its configuration, or now: redis-cli -u URL CONFIG SET "
                + "maxmemory-policy noeviction",
            isHindrance: isHindrance)
    }
}
