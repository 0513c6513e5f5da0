import DarkroomConcurrency
import DarkroomRedis
import DarkroomTestSupport
import Foundation
import Testing

@Suite(.redisServer) struct RedisConnectionTests {
    let redis = RedisServer.current

    @Test func answersBlockingAndAsynchronousCalls() async throws {
        let connection = RedisConnection(redis.configuration)
        defer { connection.close() }
        let key = redis.namespace()
        #expect(try connection.call(RedisCommand("SET", key, "41")) == .status("OK"))
        #expect(try connection.call(RedisCommand("INCR", key)).int == 42)
        let results = await connection.send([RedisCommand("GET", key), RedisCommand("GET", key + "-missing")])
        #expect(results == [.success(.bytes(Array("42".utf8))), .success(.null)])
    }
}
