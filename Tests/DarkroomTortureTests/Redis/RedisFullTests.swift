import Darkroom
import DarkroomRedis
import DarkroomTestSupport
import Foundation
import Testing

/// Redis reaches its memory limit (noeviction) while a coordinator feeds faster than the workers process.
@Suite(.serialized) struct RedisFullTests {
    @Test func submitReportsTheFullRedisAndWorkersFinish() throws {
        var run = TortureRun("Redis at maxmemory", count: 1)
        let redis = try RedisServer()
        defer { redis.stop() }
        let url = redis.configuration.displayName
        let cluster = try TortureCluster(redisURL: url, namespace: "full", workers: 3)
        _ = try cluster.workerIDs
        let administrator = RedisConnection(redis.configuration)
        var done = 0
        var photos = 0
        while run.goesOn(after: done) {
            let used = ServerInformation(try administrator.call(RedisCommand("INFO", "memory")).string ?? "")
            // From Redis 8 on, `used_memory` includes memory that scripts no longer use and Lua has not freed yet, about
            // 100 kB. The feeder needs much more than that, or it would wait for Lua most of the time.
            let limit = try #require(used.int("used_memory")) + 900_000 + run.random.number(in: 0..<200_000)
            _ = try administrator.call(RedisCommand("CONFIG", "SET", "maxmemory", "\(limit)"))
            // The names cannot be compressed, so the list needs several times the memory that Redis has.
            var random = run.random
            let names = (0..<1500).map { _ in
                (0..<150).map { _ in String(random.next(), radix: 36) }.joined()
            }
            let feeding = try cluster.feed(
                photos: names.count, operationSize: 5, window: 10_000, redisURL: url, name: { names[$0] })
            try feeding.wait(for: "Redis has no memory left", within: .seconds(30))
            try feeding.waitForEnd(within: .seconds(120))
            try cluster.waitUntilFinished(feeding.batch, within: .seconds(60))
            try cluster.verify(feeding.batch)
            let said = feeding.said.filter { $0.contains("memory") }
            #expect(said.filter { $0.contains("no memory left") }.count <= 2, "\(said)")
            try cluster.forget(feeding.batch)
            done += 1
            photos += names.count
            run.random = random
        }
        // The workers were not affected.
        #expect(cluster.logged(" warning ").isEmpty && cluster.logged(" error ").isEmpty)
        run.report([("batches drained to the end, counts exact", "\(done)"), ("photos", "\(photos)")])
    }
}
