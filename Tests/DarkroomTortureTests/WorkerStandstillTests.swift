import Darkroom
import DarkroomTestSupport
import Testing

/// Workers that stand still (SIGSTOP) until their leases have expired, and come back.
@Suite(.redisServer, .serialized) struct WorkerStandstillTests {
    @Test func whatComesBackSpoilsNothingAndWorksOn() throws {
        let run = TortureRun("stop", count: 2)
        let redis = RedisServer.current
        let lease = Duration.seconds(6)
        let cluster = try TortureCluster(
            redisURL: redis.configuration.displayName, namespace: redis.namespace(), workers: 2, lease: lease)
        let outcome = try StandstillCampaign(cluster, lease: lease, random: run.random).perform(run)
        try cluster.verifyStore()
        try cluster.end()
        run.report([
            ("standstills of \(lease + .seconds(4))", "\(outcome.standstills)"),
            ("of them in the middle of a file", "\(outcome.inFiles)"),
            ("operations taken from who stood still", "\(outcome.taken)"), ("reports taken", "0"),
            ("times refused, by its log", "\(outcome.refusals)"), ("photos", "\(outcome.photos)"), ("lost", "0"),
            ("photos done again", "\(outcome.repeats)"),
            ("photos unreported at a standstill", "\(outcome.unreported)"),
        ])
        #expect(outcome.taken >= outcome.standstills)
        #expect(outcome.repeats <= outcome.unreported, "work was done again that had been reported")
    }
}
