import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// 5 % of the packets between Redis, workers, coordinator and photo server are lost.
///
/// The test has its own network namespace. It requires root and `nft`.
@Suite(.serialized, .enabled(if: NetworkNamespace.canLosePackets)) struct PacketLossTests {
    @Test func workContinuesWithExactCounts() async throws {
        try await NetworkNamespace.run {
            var run = TortureRun("network: 5 % of all packets lost", count: 1)
            let port = try RedisServer.freePort()
            let redis = try RedisServer(port: port)
            defer { redis.stop() }
            let url = "redis://127.0.0.1:\(port)"
            let cluster = try TortureCluster(redisURL: url, namespace: "loss", workers: 3)
            let workers = try cluster.workerIDs
            let traffic = try RedisTraffic(of: redis)
            var back = Distribution()
            let (lossy, whole) = (run.bound(.seconds(10)), run.bound(.seconds(5)))
            let load = FaultLoad(cluster: cluster, redisURL: url, photos: 2000)
            let outcome = try load.run(&run) { _, random in
                guard NetworkNamespace.lose(percent: 5) else { throw TortureFailure("nft cannot lose packets") }
                usleep(UInt32(random.number(in: 1_000_000..<3_000_000)))
                // While packets are lost, the work continues at a lower rate.
                let during = RedisTraffic.now
                back.add(try traffic.waitForWork(of: workers, since: during, within: lossy))
                // In half of the runs, packets are lost until the end.
                guard random.chance(50) else { return }
                guard NetworkNamespace.lose(percent: 0) else { throw TortureFailure("nft cannot end the packet loss") }
                _ = try traffic.waitForWork(of: workers, since: RedisTraffic.now, within: whole)
            }
            run.report([
                ("faults", "\(outcome.faults)"), ("batches, all exact", "\(outcome.batches)"),
                ("photos", "\(outcome.photos)"), ("photos downloaded again", "\(outcome.repeats)"),
                ("from a random time to the next claim or report", back.text),
            ])
        }
    }
}
