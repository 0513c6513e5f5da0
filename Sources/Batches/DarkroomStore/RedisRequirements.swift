import DarkroomRedis

/// Checks whether Darkroom can work with a Redis server: the version must be recent, and no keys may be evicted.
package enum RedisRequirements {
    private static let oldestMajorVersion = 7

    /// Checks the version and the eviction policy of a Redis server. Blocks.
    ///
    /// The check opens a separate connection that loads no scripts, because an old Redis cannot load them.
    /// - Returns: the warnings, one sentence each.
    /// - Throws: ``StoreError`` with the code `redis`, or with `unsuitableRedis` and a text that names the remedy.
    package static func check(_ configuration: RedisConfiguration) throws(StoreError) -> [String] {
        let connection = RedisConnection(configuration)
        defer { connection.close() }
        let information: RedisValue
        do throws(RedisError) {
            // Request all sections at once: before Redis 7.0, INFO accepts only one section name.
            information = try connection.call(RedisCommand("INFO"))
        } catch {
            throw StoreError(.redis, error.description, redis: error)
        }
        return try check(information: information.string ?? "", of: configuration.displayName)
    }

    /// Checks a reply of INFO.
    static func check(information text: String, of redis: String) throws(StoreError) -> [String] {
        let information = ServerInformation(text)
        if let lack = versionLack(information) {
            throw StoreError(.unsuitableRedis, "\(redis): \(lack.meaning): found \(lack.found); \(lack.advice)")
        }
        var warnings: [String] = []
        if information["role"] == "slave" {
            let master = "\(information["master_host"] ?? "?"):\(information["master_port"] ?? "?")"
            warnings.append(
                "\(redis): this Redis is a replica of \(master), and replicas refuse changes; give the address of its master, "
                    + "or of its sentinels: redis+sentinel://host:port/service")
        }
        guard let lack = evictionLack(information) else { return warnings }
        let found = "\(redis): found \(lack.found): \(lack.meaning)"
        guard lack.isHindrance else { return warnings + [found] }
        throw StoreError(.unsuitableRedis, "\(found); \(lack.advice)")
    }

    /// A requirement that a Redis server does not meet.
    package struct Lack: Sendable {
        package let found: String
        /// The consequence of the unmet requirement.
        package let meaning: String
        /// The change to make.
        package let advice: String
        /// True if Darkroom cannot work with this Redis server; false if the requirement is only a recommendation.
        package var isHindrance = true
    }

    /// The unmet requirement if Redis is too old; else nil.
    package static func versionLack(_ information: ServerInformation) -> Lack? {
        // Valkey reports in this field the Redis version with which it is compatible.
        let version = information["redis_version"] ?? "none"
        if let major = version.split(separator: ".").first.flatMap({ Int($0) }), major >= oldestMajorVersion {
            return nil
        }
        return Lack(
            found: "version \(version), required is Redis \(oldestMajorVersion).0 or newer, or Valkey",
            meaning: "this Redis is too old", advice: "install a newer version, or give the address of another Redis")
    }

    /// The unmet requirement if Redis evicts keys when its memory is full; else nil.
    package static func evictionLack(_ information: ServerInformation) -> Lack? {
        guard let policy = information["maxmemory_policy"], policy != "noeviction" else { return nil }
        let isHindrance = !policy.hasPrefix("volatile-")
        return Lack(
            found: "maxmemory-policy \(policy)",
            meaning: isHindrance
                ? "a full Redis would discard queued photos"
                : "no key of Darkroom expires, so no key is evicted, but noeviction is safer",
            advice: "set \"maxmemory-policy noeviction\" in its configuration, or now: redis-cli -u URL CONFIG SET "
                + "maxmemory-policy noeviction",
            isHindrance: isHindrance)
    }
}
