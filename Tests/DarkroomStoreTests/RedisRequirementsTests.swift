import DarkroomRedis
import DarkroomTestSupport
import ErrorExpectations
import Testing

@testable import DarkroomStore

/// The requirements that a Redis server must meet.
@Suite(.redisServer) struct RedisRequirementsTests {
    @Test func acceptsTheInstalledRedis() throws {
        #expect(try RedisRequirements.check(RedisServer.current.configuration) == [])
    }

    @Test(arguments: ["7.0.0", "7.2.4", "8.0.1", "10.0"])
    func acceptsVersion(_ version: String) throws {
        let information = "# Server\r\nredis_version:\(version)\r\nmaxmemory_policy:noeviction\r\n"
        #expect(try RedisRequirements.check(information: information, of: "r") == [])
    }

    @Test(arguments: ["6.2.14", "5.0", "6.9.9"])
    func rejectsVersion(_ version: String) throws {
        let error = try requireError(StoreError.self) {
            try RedisRequirements.check(information: "redis_version:\(version)\r\n", of: "redis://r:1")
        }
        #expect(error.code == .unsuitableRedis)
        let message = "redis://r:1: this Redis is too old: found version \(version), required is Redis 7.0"
        #expect(error.description.hasPrefix(message))
    }

    @Test func rejectsAServerWithoutAVersion() throws {
        let error = try requireError(StoreError.self) { try RedisRequirements.check(information: "hello", of: "r") }
        #expect(error.description.contains("found version none"))
    }

    @Test func rejectsARedisThatEvictsKeys() throws {
        let evicting = try RedisServer(arguments: ["--maxmemory-policy", "allkeys-lru"])
        defer { evicting.stop() }
        let error = try requireError(StoreError.self) { try RedisRequirements.check(evicting.configuration) }
        #expect(error.code == .unsuitableRedis)
        #expect(error.description.contains("found maxmemory-policy allkeys-lru"))
        #expect(error.description.contains("CONFIG SET maxmemory-policy noeviction"))
    }

    @Test func warnsIfOnlyExpiringKeysAreEvicted() throws {
        let information = "redis_version:7.0.15\r\nmaxmemory_policy:volatile-ttl\r\n"
        let warnings = try RedisRequirements.check(information: information, of: "r")
        #expect(warnings.count == 1 && warnings[0].contains("maxmemory-policy volatile-ttl"))
    }

    @Test func warnsAboutAReplica() throws {
        let replica = try RedisServer(arguments: ["--replicaof", "127.0.0.1", "1"])
        defer { replica.stop() }
        let warnings = try RedisRequirements.check(replica.configuration)
        #expect(warnings.count == 1 && warnings[0].contains("a replica of 127.0.0.1:1, and replicas refuse changes"))
    }
}
