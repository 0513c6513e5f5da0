import Darkroom
import DarkroomConcurrency
import DarkroomStore
import DarkroomTestSupport
import Foundation
import FuzzSupport
import Testing

/// Workers that are asked to stop (SIGTERM).
@Suite(.redisServer, .serialized) struct WorkerShutdownTests {
    /// What was measured.
    private struct Outcome {
        var stops = 0
        /// From SIGTERM until an operation was in the queue again, or another's.
        var handBacks = Distribution()
        /// The same of the first one of each worker.
        var firstHandBacks = Distribution()
        /// From SIGTERM until the process had ended.
        var ends = Distribution()
    }

    @Test func whatDoesNotRunIsHandedBackAtOnceAndNoDeathIsCounted() throws {
        var run = TortureRun("shutdown", count: 5)
        let redis = RedisServer.current
        let cluster = try TortureCluster(
            redisURL: redis.configuration.displayName, namespace: redis.namespace(), workers: 2)
        let workload = Workload(cluster, seed: run.seed)
        var outcome = Outcome()
        while run.goesOn(after: outcome.stops) {
            try workload.keepUp()
            Signal().wait(timeout: .milliseconds(run.random.number(in: 0..<500)))
            try stop(run.random.pick(cluster.workers), of: cluster, &outcome)
            #expect(try cluster.mostDeaths() == 0, "a death was counted")
            try cluster.startWorker()
        }
        try workload.finish()
        try cluster.end()
        run.report([
            ("workers stopped", "\(outcome.stops)"), ("photos", "\(workload.photos)"), ("lost", "0"),
            ("deaths counted", "0"), ("photos done again", "\(workload.repeats)"),
            ("until a worker's first operation was in the queue again", outcome.firstHandBacks.text),
            ("until an operation was in the queue again", outcome.handBacks.text),
            ("until the worker had ended", outcome.ends.text),
        ])
        let first = try #require(outcome.firstHandBacks.percentile(50))
        #expect(first < .seconds(1), "what does not run is not handed back at once")
    }

    private func stop(_ victim: TortureWorker, of cluster: TortureCluster, _ outcome: inout Outcome) throws {
        // It has begun when it holds two operations: one that runs, and one that may not.
        var held: [HeldOperation] = []
        let deadline = ContinuousClock.now + .seconds(30)
        repeat {
            guard .now < deadline else { throw TortureFailure("the worker to be stopped held nothing for 30 s") }
            held = try cluster.heldOperations().filter { victim.isCalled($0.worker) }.map(\.held)
        } while held.count < 2
        let began = ContinuousClock.now
        victim.stop()
        var first: Duration?
        while !held.isEmpty {
            let holders = try cluster.holders(of: held)
            let passed = .now - began
            guard passed < .seconds(12) else { throw TortureFailure("\(held) are held 12 s after SIGTERM") }
            for (operation, holder) in zip(held, holders) where holder != operation.fencingToken {
                held.removeAll { $0 == operation }
                if holder == 0 { continue }  // it had ended
                outcome.handBacks.add(passed)
                first = first ?? passed
            }
        }
        if let first { outcome.firstHandBacks.add(first) }
        #expect(victim.waitForEnd(within: .seconds(15)), "it is there 15 s after what it held was not its own any more")
        outcome.ends.add(.now - began)
        outcome.stops += 1
        #expect(try cluster.operations(heldBy: victim).map(\.held) == [])
        #expect(victim.logged.contains("worker stopped"), "it said: \(victim.logged.suffix(500))")
    }
}
