import Darkroom
import DarkroomRedis
import DarkroomTestSupport
import Foundation
import Testing

/// Redis is suspended or killed for the time of three leases while workers run.
///
/// Confirmed writes are on disk (appendfsync always), so no photo may be downloaded twice.
@Suite(.serialized) struct RedisPauseTests {
    private static let lease = Duration.seconds(10)

    @Test func noLeaseOfARunningWorkerExpiresAndItsWorkIsKept() throws {
        var run = TortureRun("Redis stopped for 3 leases", count: 1)
        let redis = try RedisServer(arguments: ["--appendonly", "yes", "--appendfsync", "always"])
        defer { redis.stop() }
        let url = redis.configuration.displayName
        let cluster = try TortureCluster(redisURL: url, namespace: "pause", workers: 3, lease: Self.lease)
        let workers = try cluster.workerIDs
        var back = Distribution()
        let bound = run.bound(.seconds(5))
        var crashes = 0
        var taken = 0
        let load = FaultLoad(cluster: cluster, redisURL: url, photos: 500)
        let first = run.random.number(in: 0..<2)
        let outcome = try load.run(&run) { number, _ in
            let isCrash = (first + number) % 2 == 1
            if isCrash {
                redis.crash()
                crashes += 1
            } else {
                redis.suspend()
            }
            usleep(UInt32((Self.lease * 3) / .microseconds(1)))
            if isCrash { try redis.restart() } else { redis.resume() }
            let resumed = RedisTraffic.now
            let traffic = try RedisTraffic(of: redis)
            back.add(try traffic.waitForWork(of: workers, since: resumed, within: bound))
            // If a lease expires after this check, its worker logs that; the check of the log below finds it.
            for batch in cluster.batches {
                let leaseExpiries = try cluster.store.connection.call(
                    RedisCommand("HLEN", cluster.store.keys.leaseExpiries(batch)))
                #expect(leaseExpiries.int == 0, "a lease expired")
            }
            #expect(traffic.recovered == 0)
            taken += traffic.recovered
        }
        #expect(outcome.repeats == 0, "photos were downloaded again")
        #expect(cluster.logged("lease lost").isEmpty && cluster.logged("report refused").isEmpty)
        run.report([
            ("pauses", "\(outcome.faults)"), ("of them kill -9 and restart", "\(crashes)"),
            ("leases taken", "\(taken)"),
            ("photos", "\(outcome.photos)"), ("photos downloaded again", "\(outcome.repeats)"),
            ("at work again after the pause", back.text),
        ])
    }
}
