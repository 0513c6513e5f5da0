import Darkroom
import DarkroomConcurrency
import DarkroomStore
import DarkroomTestSupport
import Foundation
import FuzzSupport
import Testing

/// Tests workers that stop on SIGTERM.
@Suite(.redisServer, .serialized) struct WorkerShutdownTests {
    /// The measured values.
    private struct Outcome {
        var stops = 0
        /// The times from SIGTERM until an operation was queued again or claimed by another worker.
        var releases = Distribution()
        /// The times from SIGTERM until the first operation of each worker was released.
        var firstReleases = Distribution()
        /// The times from SIGTERM until the end of the process.
        var ends = Distribution()
    }

    @Test func releasesIdleOperationsAtOnceWithoutLeaseExpiries() throws {
        var run = TortureRun("shutdown", count: 3)
        let redis = RedisServer.current
        let cluster = try TortureCluster(
            redisURL: redis.configuration.displayName, namespace: redis.namespace(), workers: 2)
        let workload = Workload(cluster, seed: run.seed)
        var outcome = Outcome()
        while run.goesOn(after: outcome.stops) {
            try workload.keepUp()
            Signal().wait(timeout: .milliseconds(run.random.number(in: 0..<500)))
            try stop(of: cluster, &run.random, &outcome)
            #expect(try cluster.mostLeaseExpiries() == 0, "a lease expiry was counted")
            try cluster.startWorker()
        }
        try workload.finish()
        try cluster.end()
        run.report([
            ("workers stopped", "\(outcome.stops)"), ("photos", "\(workload.photos)"), ("lost", "0"),
            ("lease expiries counted", "0"), ("photos processed again", "\(workload.repeats)"),
            ("until a worker's first operation was in the queue again", outcome.firstReleases.text),
            ("until an operation was in the queue again", outcome.releases.text),
            ("until the worker had ended", outcome.ends.text),
        ])
        let first = try #require(outcome.firstReleases.percentile(50))
        #expect(first < .seconds(1), "operations without running photos are not released at once")
    }

    private func stop(
        of cluster: TortureCluster, _ random: inout SeededGenerator, _ outcome: inout Outcome
    ) throws {
        // Waits until a worker holds two operations: one of them may have no running photos, so it is released at once.
        var busy: [(worker: TortureWorker, held: [HeldOperation])] = []
        let deadline = ContinuousClock.now + .seconds(30)
        repeat {
            guard .now < deadline else {
                throw TortureFailure("every worker held fewer than two operations for 30 s")
            }
            let all = try cluster.heldOperations()
            busy = cluster.workers.map { worker in
                (worker, all.filter { worker.isCalled($0.worker) }.map(\.held))
            }.filter { $0.held.count > 1 }
        } while busy.isEmpty
        var (victim, held) = random.pick(busy)
        let began = ContinuousClock.now
        victim.stop()
        var first: Duration?
        while !held.isEmpty {
            let holders = try cluster.holders(of: held)
            let passed = .now - began
            guard passed < .seconds(12) else { throw TortureFailure("\(held) are held 12 s after SIGTERM") }
            for (operation, holder) in zip(held, holders) where holder != operation.fencingToken {
                held.removeAll { $0 == operation }
                if holder == 0 { continue }  // the operation had ended
                outcome.releases.add(passed)
                first = first ?? passed
            }
        }
        if let first { outcome.firstReleases.add(first) }
        #expect(
            victim.waitForEnd(within: .seconds(15)), "the worker has not ended 15 s after the release of its operations"
        )
        outcome.ends.add(.now - began)
        outcome.stops += 1
        #expect(try cluster.operations(heldBy: victim).map(\.held) == [])
        #expect(victim.logged.contains("worker stopped"), "end of its log: \(victim.logged.suffix(500))")
    }
}
