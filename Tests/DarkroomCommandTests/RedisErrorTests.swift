import DarkroomRedis
import DarkroomTestSupport
import Foundation
import Testing

/// Messages and exit statuses for a Redis server that is unreachable, rejects the password, or must not be used.
@Suite(.serialized) struct RedisErrorTests {
    private static let commands = [["status"], ["batches"], ["workers"], ["wait"], ["worker"], ["photos", "a"]]

    @Test(arguments: commands) func noRedisAtTheAddress(_ command: [String]) throws {
        let port = try RedisServer.freePort()
        let outcome = try Program(command + ["--redis", "redis://:secret@127.0.0.1:\(port)"]).outcome()
        #expect(outcome.status == 1 && outcome.standardOutput.isEmpty)
        #expect(outcome.standardError.contains("connect to redis://127.0.0.1:\(port): Connection refused; "))
        #expect(!outcome.standardError.contains("secret"))
    }

    @Test func wrongPassword() throws {
        let locked = try RedisServer()
        defer { locked.stop() }
        _ = try RedisConnection(locked.configuration).call(RedisCommand("CONFIG", "SET", "requirepass", "right"))
        let address = locked.configuration.displayName.replacingOccurrences(of: "unix://", with: "unix://:wrong@")
        for command in ["status", "worker"] {
            let outcome = try Program.run(command, environment: ["DARKROOM_REDIS": address])
            #expect(outcome.status == 1)
            #expect(outcome.standardError.contains("WRONGPASS"))
            #expect(outcome.standardError.contains("Check user and password"))
            #expect(!outcome.standardError.contains("wrong@"))
        }
    }

    @Test func redisIsTooOld() throws {
        let old = try StubRedis(information: ["# Server", "redis_version:6.2.14", "maxmemory_policy:noeviction"])
        for command in ["status", "worker", "wait"] {
            let outcome = try Program.run(command, "--redis", "unix://\(old.socketPath)")
            #expect(outcome.status == 1)
            let message = "this Redis is too old: found version 6.2.14, required is Redis 7.0 or newer"
            #expect(outcome.standardError.contains(message))
        }
    }

    @Test func redisEvictsKeys() throws {
        let evicting = try RedisServer(arguments: ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lfu"])
        defer { evicting.stop() }
        let outcome = try Program.run("worker", "--redis", evicting.configuration.displayName)
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("found maxmemory-policy allkeys-lfu"))
        #expect(outcome.standardError.contains("redis-cli -u URL CONFIG SET maxmemory-policy noeviction"))
        // `status` only reads, so it accepts a Redis server that evicts keys.
        #expect(try Program.run("status", "--redis", evicting.configuration.displayName).status == 0)
    }
}
