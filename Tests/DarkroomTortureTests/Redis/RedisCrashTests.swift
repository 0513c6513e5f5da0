import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// redis-server is killed at random times while a coordinator feeds and workers run, and restarts with its append-only
/// file.
@Suite(.serialized) struct RedisCrashTests {
    @Test func allBatchesFinishWithExactCounts() throws {
        var run = TortureRun("redis-server kill -9 and restart, appendfsync everysec", count: 5)
        let redis = try RedisServer(arguments: ["--appendonly", "yes", "--appendfsync", "everysec"])
        defer { redis.stop() }
        let url = redis.configuration.displayName
        let cluster = try TortureCluster(redisURL: url, namespace: "crash", workers: 3)
        let workers = try cluster.workerIDs
        var back = Distribution()
        let bound = run.bound(.seconds(10))
        let load = FaultLoad(cluster: cluster, redisURL: url, photos: 1200)
        let outcome = try load.run(&run) { _, random in
            redis.crash()
            usleep(UInt32(random.number(in: 0..<1_500_000)))  // the length of the outage
            try redis.restart()
            let traffic = try RedisTraffic(of: redis)
            let restarted = RedisTraffic.now
            back.add(try traffic.waitForWork(of: workers, since: restarted, within: bound))
        }
        run.report([
            ("kills", "\(outcome.faults)"), ("batches, all exact", "\(outcome.batches)"),
            ("photos", "\(outcome.photos)"), ("photos downloaded again", "\(outcome.repeats)"),
            ("at work again after the restart", back.text),
        ])
        // Each worker logs each outage at most once.
        #expect(cluster.logged("Redis cannot be used").count <= workers.count * outcome.faults)
    }
}
