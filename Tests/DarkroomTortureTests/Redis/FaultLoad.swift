import Darkroom
import DarkroomTestSupport
import Foundation
import FuzzSupport
import Testing

/// A sequence of batches that `darkroom submit` feeds and the workers of a cluster develop, while faults are injected.
struct FaultLoad {
    let cluster: TortureCluster
    /// The Redis URL for `darkroom submit`.
    let redisURL: String
    /// The number of photos of a batch.
    let photos: Int
    /// The maximum time that a batch may take to finish after the last fault.
    var patience = Duration.seconds(120)

    /// The results of a run.
    struct Outcome {
        var faults = 0
        var batches = 0
        var photos = 0
        /// The number of downloads of photos that had already been downloaded.
        var repeats = 0
        /// The output of the feeding programs.
        var said: [String] = []
    }

    private static let operationSize = 5
    private static let window = 12

    /// Injects faults until the run is complete; between two faults, photos must become final. Then every batch must
    /// finish without intervention, with the same result as without faults.
    /// - Parameters:
    ///   - most: The maximum number of faults. The function stops at this number, even if the run is not complete.
    ///   - fault: Injects a fault and waits until the workers claim or report again.
    func run(
        _ run: inout TortureRun, atMost most: Int = .max, fault: (Int, inout SeededGenerator) throws -> Void
    ) throws -> Outcome {
        var outcome = Outcome()
        while outcome.faults < most, run.goesOn(after: outcome.faults) {
            let feeding = try cluster.feed(
                photos: photos, operationSize: Self.operationSize, window: Self.window, redisURL: redisURL)
            while outcome.faults < most, run.goesOn(after: outcome.faults), try isAtWork(on: feeding) {
                usleep(UInt32(run.random.number(in: 0..<300_000)))  // so that the fault occurs at a random time
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
    /// - Returns: false if more than 3/4 of the photos are final, so that a fault would have little effect.
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
                    "batch \(batch): no photo has become final in 60 s; output of submit: \(feeding.said); "
                        + cluster.logEnds)
            }
            usleep(5000)
        }
    }
}

extension TortureCluster {
    /// The ids of the workers.
    var workerIDs: [String] { get throws { try workers.map { try $0.id } } }

    /// The last lines of the log of each worker.
    var logEnds: String {
        workers.map { worker in
            "worker \(worker.processIdentifier):\n"
                + worker.logged.split(separator: "\n").suffix(20).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    /// The lines that contain `words` in the logs of all workers.
    func logged(_ words: String) -> [Substring] {
        workers.flatMap { worker in
            // Excludes warnings about the test environment: root, unlimited outputs and missing confinement.
            worker.logged.split(separator: "\n").filter { line in
                line.contains(words)
                    && !["runs as root", "may write to every folder", "does not confine"].contains { line.contains($0) }
            }
        }
    }
}
