import Darkroom
import DarkroomTestSupport
import FuzzSupport
import Testing

/// Workers that die by SIGKILL.
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
            ("kills", "\(outcome.kills)"), ("kills of workers that held something", "\(outcome.losses)"),
            ("batches verified", "\(workload.batches)"), ("photos", "\(workload.photos)"), ("lost", "0"),
            ("photos done again", "\(workload.repeats)"), ("photos unreported at a kill", "\(outcome.unreported)"),
            ("leases of one operation expired at most", "\(outcome.mostDeaths)"),
            ("from a kill until its operations were free (lease \(lease))", outcome.recovery.freed.text),
            ("until others had room and claimed them", outcome.recovery.claimed.text),
        ])
        #expect(workload.repeats <= outcome.unreported, "work was done again that had been reported")
        let freed = outcome.recovery.freed
        let median = try #require(freed.percentile(50), "no worker held anything when it was killed: nothing was tried")
        #expect(median <= lease + .seconds(3), "operations of dead workers wait too long: \(freed.text)")
        // Of few, one that a busy machine delays decides.
        let slowest = try #require(freed.percentile(99))
        #expect(slowest <= run.bound(lease + .seconds(3)), "operations of dead workers wait too long: \(freed.text)")
    }

    @Test func killedWorkersLoseNothing() throws {
        try campaign(TortureRun("kill", count: 30), lease: .seconds(6), pause: 300..<2000)
    }

    @Test func othersTakeOverWithinTheLeaseAndThreeSeconds() throws {
        try campaign(TortureRun("recovery", count: 4), lease: .seconds(15), pause: 3000..<6000)
    }
}
