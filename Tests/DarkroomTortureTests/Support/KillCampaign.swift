import Darkroom
import DarkroomConcurrency
import Foundation
import FuzzSupport
import Testing

/// Workers that are killed at random moments while there is always work.
final class KillCampaign {
    /// What it came to.
    struct Outcome {
        var kills = 0
        /// Kills of workers that held something.
        var losses = 0
        /// Photos that the killed workers held and had not reported.
        var unreported = 0
        var recovery = RecoveryWatch.Recovery()
        /// The most leases of one operation that were seen to have expired.
        var mostDeaths = 0
    }

    /// How long after there is plenty to do a worker is killed at most, in ms: at any moment, and while it does something.
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

    /// Kills while the run goes on, replaces who was killed, and lets all work be finished.
    /// - Parameter pause: between two kills, in ms.
    func perform(_ run: TortureRun, pause: Range<Int>) throws -> Outcome {
        defer { watch.stop() }
        while run.goesOn(after: outcome.kills) {
            // Nothing is waited for: the moment is to be any.
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
        // It stands still while Redis is asked what it has, so that the answer is what its death loses.
        let stopped = ContinuousClock.now
        try victim.suspend()
        let held = try cluster.operations(heldBy: victim)
        victim.kill()
        watch.expect(held.map(\.held), since: stopped)
        try cluster.startWorker()
        outcome.kills += 1
        outcome.losses += held.isEmpty ? 0 : 1
        outcome.unreported += held.reduce(0) { $0 + $1.unreported }
        outcome.mostDeaths = max(outcome.mostDeaths, try cluster.mostDeaths())
    }
}
