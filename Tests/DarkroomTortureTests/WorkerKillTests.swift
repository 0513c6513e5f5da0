import Darkroom
import DarkroomTestSupport
import FuzzSupport
import Testing

/// Tests workers that are killed by SIGKILL.
@Suite(.redisServer, .serialized) struct WorkerKillTests {
    private func campaign(_ run: TortureRun, lease: Duration, pause: Range<Int>) throws {
        let redis = RedisServer.current
        let cluster = try TortureCluster(
            redisURL: redis.configuration.displayName, namespace: redis.namespace(), workers: 3, lease: lease)
        let workload = Workload(cluster, seed: run.seed)
        let campaign = KillCampaign(cluster, workload: workload, random: run.random)
        let outcome = try campaign.perform(run, pause: pause)
        try cluster.end()
        run.report([
            ("kills", "\(outcome.kills)"), ("kills of workers that held operations", "\(outcome.losses)"),
            ("batches verified", "\(workload.batches)"), ("photos", "\(workload.photos)"), ("lost", "0"),
            ("photos processed again", "\(workload.repeats)"), ("photos unreported at a kill", "\(outcome.unreported)"),
            ("lease expiries of one operation at most", "\(outcome.mostLeaseExpiries)"),
            ("from a kill until its operations were free (lease \(lease))", outcome.recovery.freed.text),
            ("until others had room and claimed them", outcome.recovery.claimed.text),
        ])
        #expect(workload.repeats <= outcome.unreported, "reported photos were processed again")
        let freed = outcome.recovery.freed
        let median = try #require(freed.percentile(50), "no killed worker held an operation")
        #expect(median <= lease + .seconds(3), "operations of killed workers wait too long: \(freed.text)")
        // With few samples, a single delay of a busy machine determines the 99th percentile.
        let slowest = try #require(freed.percentile(99))
        #expect(slowest <= run.bound(lease + .seconds(3)), "operations of killed workers wait too long: \(freed.text)")
    }

    @Test func killedWorkersLoseNothing() throws {
        try campaign(TortureRun("kill", count: 10), lease: .seconds(6), pause: 300..<2000)
    }

    @Test func otherWorkersTakeOverAtMost3SecondsAfterTheLeaseExpires() throws {
        try campaign(TortureRun("recovery", count: 2), lease: .seconds(15), pause: 3000..<6000)
    }
}
