import Darkroom
import DarkroomRedis
import DarkroomTestSupport
import Foundation
import Testing

/// Redis replies with errors, because it has lost its scripts, is read-only, or is loading its data.
///
/// The reply CLUSTERDOWN of cluster nodes is tested in RedisClusterTests.
@Suite(.serialized) struct RedisRepliesTests {
    @Test func lostScriptsHaveNoVisibleEffect() throws {
        var run = TortureRun("SCRIPT FLUSH", count: 10)
        let redis = try RedisServer(arguments: ["--appendonly", "yes"])
        defer { redis.stop() }
        let (cluster, load) = try darkroom(redis)
        let administrator = RedisConnection(redis.configuration)
        let outcome = try load.run(&run) { _, _ in _ = try administrator.call(RedisCommand("SCRIPT", "FLUSH")) }
        #expect(outcome.said.isEmpty, "output of submit: \(outcome.said)")
        #expect(cluster.logged(" warning ").isEmpty && cluster.logged(" error ").isEmpty)
        #expect(outcome.repeats == 0)
        report(run, outcome, [])
    }

    @Test func waitsForAMasterThatIsTemporarilyAReplica() throws {
        var run = TortureRun("READONLY: REPLICAOF and back", count: 2)
        let redis = try RedisServer()
        defer { redis.stop() }
        let (cluster, load) = try darkroom(redis)
        let workers = try cluster.workerIDs
        let administrator = RedisConnection(redis.configuration)
        try administrator.connect()
        let traffic = try RedisTraffic(of: redis)
        var back = Distribution()
        let bound = run.bound(.seconds(5))
        let outcome = try load.run(&run) { _, random in
            _ = try administrator.call(RedisCommand("REPLICAOF", "127.0.0.1", "1"))
            usleep(UInt32(random.number(in: 500_000..<2_000_000)))
            _ = try administrator.call(RedisCommand("REPLICAOF", "NO", "ONE"))
            back.add(try traffic.waitForWork(of: workers, since: RedisTraffic.now, within: bound))
        }
        expectReportedOnce(cluster, outcome)
        #expect(outcome.repeats == 0)
        report(run, outcome, [("at work again", back.text)])
    }

    /// Loading takes at least 0.5 s: 200 us for each of the 2,000 keys and for each key of the batch.
    @Test func waitsForALoadingServer() throws {
        var run = TortureRun("LOADING: restart with 2,000 slow keys", count: 1)
        let redis = try RedisServer(arguments: [
            "--appendonly", "yes", "--appendfsync", "always", "--key-load-delay", "200",
            "--loading-process-events-interval-bytes", "1024",
        ])
        defer { redis.stop() }
        let administrator = RedisConnection(redis.configuration)
        for result in administrator.call((0..<2000).map { RedisCommand("SET", "key\($0)", "value") }) {
            _ = try result.get()
        }
        let (cluster, load) = try darkroom(redis)
        let workers = try cluster.workerIDs
        var back = Distribution()
        let bound = run.bound(.seconds(5))
        let outcome = try load.run(&run) { _, _ in
            redis.crash()
            try redis.restart()  // returns when the data are loaded
            let traffic = try RedisTraffic(of: redis)
            back.add(try traffic.waitForWork(of: workers, since: RedisTraffic.now, within: bound))
        }
        expectReportedOnce(cluster, outcome)
        #expect(outcome.repeats == 0)
        report(run, outcome, [("at work again", back.text)])
    }

    private func darkroom(_ redis: RedisServer) throws -> (TortureCluster, FaultLoad) {
        let url = redis.configuration.displayName
        let cluster = try TortureCluster(redisURL: url, namespace: "replies", workers: 3)
        // Before its first heartbeat, a submission would print that there is no worker.
        let deadline = ContinuousClock.now + .seconds(60)
        while try cluster.store.workers().count < 3 {
            guard .now < deadline else { throw TortureFailure("the workers have not started within 60 s") }
            usleep(5000)
        }
        return (cluster, FaultLoad(cluster: cluster, redisURL: url, photos: 600))
    }

    /// Expects that each worker and the feeder log one line at the start and one line at the end of each fault.
    private func expectReportedOnce(_ cluster: TortureCluster, _ outcome: FaultLoad.Outcome) {
        let stops = outcome.said.filter { $0.contains("feeding has stopped") }
        #expect(stops.count <= outcome.faults && outcome.said.count <= 2 * outcome.faults, "\(outcome.said)")
        let away = cluster.logged("Redis cannot be used")
        #expect(away.count <= cluster.workers.count * outcome.faults, "\(away)")
        #expect(cluster.logged(" warning ").count == away.count && cluster.logged(" error ").isEmpty)
    }

    private func report(
        _ run: TortureRun, _ outcome: FaultLoad.Outcome, _ more: [(what: String, value: String)]
    ) {
        run.report(
            [
                ("faults", "\(outcome.faults)"), ("batches, all exact", "\(outcome.batches)"),
                ("photos", "\(outcome.photos)"), ("photos downloaded again", "\(outcome.repeats)"),
            ] + more)
    }
}
