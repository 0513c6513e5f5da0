import Darkroom
import DarkroomConcurrency
import Foundation
import FuzzSupport
import Testing

/// Kills workers at random times. There are always operations that can be claimed.
final class KillCampaign {
    /// The results of a campaign.
    struct Outcome {
        var kills = 0
        /// The number of kills of workers that held operations.
        var losses = 0
        /// The number of unreported photos of the killed workers.
        var unreported = 0
        var recovery = RecoveryWatch.Recovery()
        /// The maximum number of lease expiries of one operation.
        var mostLeaseExpiries = 0
    }

    /// The maximum time in ms from the submission of work to a kill; it is so short that the worker is still busy.
    private static let working = 300

    private let cluster: TortureCluster
    private let workload: Workload
    private let watch: RecoveryWatch
    private var random: SeededGenerator
    private var outcome = Outcome()

    init(_ cluster: TortureCluster, workload: Workload, random: SeededGenerator) {
        self.cluster = cluster
        self.workload = workload
        self.random = random
        watch = RecoveryWatch(cluster)
    }

    /// Kills and replaces workers until the run is complete, and waits until all batches have finished.
    /// - Parameter pause: The time between two kills in ms.
    func perform(_ run: TortureRun, pause: Range<Int>) throws -> Outcome {
        defer { watch.stop() }
        while run.goesOn(after: outcome.kills) {
            // Waits for a random time. The semaphore is never signalled.
            Signal().wait(timeout: .milliseconds(random.number(in: pause)))
            try workload.keepUp()
            Signal().wait(timeout: .milliseconds(random.number(in: 0..<Self.working)))
            try kill()
        }
        outcome.recovery = try watch.finish(patience: .seconds(60))
        try workload.finish()
        return outcome
    }

    private func kill() throws {
        let victim = random.pick(cluster.workers)
        // Suspends the worker first, so that the kill loses exactly the operations that the test reads here.
        let stopped = ContinuousClock.now
        try victim.suspend()
        let held = try cluster.operations(heldBy: victim)
        victim.kill()
        watch.expect(held.map(\.held), since: stopped)
        try cluster.startWorker()
        outcome.kills += 1
        outcome.losses += held.isEmpty ? 0 : 1
        outcome.unreported += held.reduce(0) { $0 + $1.unreported }
        outcome.mostLeaseExpiries = max(outcome.mostLeaseExpiries, try cluster.mostLeaseExpiries())
    }
}
