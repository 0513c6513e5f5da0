import Darkroom
import DarkroomTestSupport
import Testing

/// Tests workers that are suspended (SIGSTOP) until their leases have expired, and then resumed.
@Suite(.redisServer, .serialized) struct WorkerStandstillTests {
    @Test func resumedWorkerChangesNoFinishedWorkAndContinues() throws {
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
            ("of them while writing a file", "\(outcome.inFiles)"),
            ("operations lost by suspended workers", "\(outcome.taken)"), ("accepted reports of lost operations", "0"),
            ("rejections, by the logs", "\(outcome.refusals)"), ("photos", "\(outcome.photos)"), ("lost", "0"),
            ("photos processed again", "\(outcome.repeats)"),
            ("photos unreported at a standstill", "\(outcome.unreported)"),
        ])
        #expect(outcome.taken >= outcome.standstills)
        #expect(outcome.repeats <= outcome.unreported, "reported photos were processed again")
    }
}
