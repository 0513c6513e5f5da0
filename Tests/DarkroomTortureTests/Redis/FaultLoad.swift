import Darkroom
import DarkroomTestSupport
import Foundation
import FuzzSupport
import Testing

/// Batches that are fed by `darkroom submit` and developed by a cluster's workers, one after the other, while faults are made.
struct FaultLoad {
    let cluster: TortureCluster
    /// How `darkroom submit` reaches Redis.
    let redisURL: String
    /// How many photos a batch has.
    let photos: Int
    /// The longest that a batch may need after its last fault.
    var patience = Duration.seconds(120)

    /// What came of it.
    struct Outcome {
        var faults = 0
        var batches = 0
        var photos = 0
        /// Downloads of photos that had been downloaded before.
        var repeats = 0
        /// What the feeding programs said.
        var said: [String] = []
    }

    private static let operationSize = 5
    private static let window = 12

    /// Makes faults as long as the run wants more; between two of them the work goes on. Then all must end by itself, and everything
    /// must be as if nothing had happened.
    /// - Parameters:
    ///   - most: makes no more than these, also if the run wants more.
    ///   - fault: makes one and sees to it that the workers are at work again.
    func run(
        _ run: inout TortureRun, atMost most: Int = .max, fault: (Int, inout SeededGenerator) throws -> Void
    ) throws -> Outcome {
        var outcome = Outcome()
        while outcome.faults < most, run.goesOn(after: outcome.faults) {
            let feeding = try cluster.feed(
                photos: photos, operationSize: Self.operationSize, window: Self.window, redisURL: redisURL)
            while outcome.faults < most, run.goesOn(after: outcome.faults), try isAtWork(on: feeding) {
                usleep(UInt32(run.random.number(in: 0..<300_000)))  // the fault comes at any moment
                try fault(outcome.faults, &run.random)
                outcome.faults += 1
            }
            try feeding.waitForEnd(within: patience)
            try cluster.waitUntilFinished(feeding.batch, within: patience)
            let verification = try cluster.verify(feeding.batch)
            outcome.batches += 1
            outcome.photos += photos
            outcome.repeats += verification.repeats
            outcome.said += feeding.said
            try cluster.forget(feeding.batch)
        }
        return outcome
    }

    /// Waits until more photos have become final.
    /// - Returns: false when the batch is nearly through, so that a fault would find little to disturb.
    private func isAtWork(on feeding: FeedingProgram) throws -> Bool {
        let batch = feeding.batch
        let deadline = ContinuousClock.now + .seconds(60)
        var first: Int?
        while true {
            do {
                let final = try cluster.store.facts(of: batch)?.counts.final ?? 0
                if final > photos * 3 / 4 { return false }
                first = first ?? final
                if final >= (first ?? 0) + 10 { return true }
            } catch {
                guard error.isPassing else { throw error }
            }
            guard .now < deadline else {
                throw TortureFailure(
                    "batch \(batch): no photo has become final in 60 s; submit said \(feeding.said); "
                        + cluster.lastWords)
            }
            usleep(5000)
        }
    }
}

extension TortureCluster {
    /// The ids of its workers.
    var workerIDs: [String] { get throws { try workers.map { try $0.id } } }

    /// What the workers logged last.
    var lastWords: String {
        workers.map { worker in
            "worker \(worker.processIdentifier):\n"
                + worker.logged.split(separator: "\n").suffix(20).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    /// The lines of all workers that have these words.
    func logged(_ words: String) -> [Substring] {
        workers.flatMap { worker in
            // Each says once that it runs as root, may write everywhere, and cannot confine helpers, where that is so.
            worker.logged.split(separator: "\n").filter { line in
                line.contains(words)
                    && !["runs as root", "outputs may lie", "does not confine"].contains { line.contains($0) }
            }
        }
    }
}
