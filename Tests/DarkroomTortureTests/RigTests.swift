import Darkroom
import DarkroomTestSupport
import Foundation
import FuzzSupport
import Testing

/// The rig itself: without a fault it finds nothing, and what is broken by hand it finds.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(2))) struct RigTests {
    private func cluster(workers: Int) throws -> TortureCluster {
        let redis = RedisServer.current
        return try TortureCluster(
            redisURL: redis.configuration.displayName, namespace: redis.namespace(), workers: workers)
    }

    @Test func untroubledBatchIsSoundAndNothingIsRepeated() throws {
        let cluster = try cluster(workers: 2)
        let batch = try cluster.submit(photos: 210, operationSize: 20)
        try cluster.waitUntilFinished(batch, within: .seconds(60))
        let verification = try cluster.verify(batch)
        #expect(verification.photos == 210 && verification.asked == 210 && verification.repeats == 0)
        try cluster.forget(batch)
        #expect(cluster.batches == [])
        #expect(try cluster.store.batchIDs() == [])
    }
}
