import Darkroom
import Foundation
import FuzzSupport
import Testing

/// A sequence of batches of different sizes that keeps workers busy. Each batch is verified after its end.
final class Workload {
    private let cluster: TortureCluster
    private var random: SeededGenerator
    private var open: [BatchID] = []
    /// The number of verified batches.
    private(set) var batches = 0
    private(set) var photos = 0
    private(set) var repeats = 0

    /// A workload without batches.
    init(_ cluster: TortureCluster, seed: UInt64) {
        self.cluster = cluster
        random = SeededGenerator(seed: seed)
    }

    /// Verifies and forgets finished batches, and submits batches until two batches and `count` photos are unfinished.
    func keepUp(photos count: Int = 1500) throws {
        try verifyFinished()
        var left = try cluster.store.facts(of: open).reduce(0) { $0 + $1.photos - $1.counts.final }
        while left < count || open.count < 2 {
            let photos = random.number(in: 100..<800)
            open.append(
                try cluster.submit(
                    photos: photos, operationSize: random.pick([10, 20, 50]),
                    renditions: random.pick([[], TorturePhotos.renditions])))
            left += photos
        }
    }

    /// Waits until all batches have finished, and verifies them and the rest of the namespace.
    /// - Parameter patience: The maximum time until the next photo becomes final; after it, the call throws. The total
    ///   time depends on the number of quarantined operations.
    func finish(patience: Duration = .seconds(60)) throws {
        var (done, deadline) = (-1, ContinuousClock.now)
        while true {
            let facts = try cluster.store.facts(of: open)
            let left = facts.filter { $0.state != .finished }
            if left.isEmpty { break }
            let now = facts.reduce(0) { $0 + $1.counts.final + ($1.state == .finished ? 1 : 0) }
            if now > done { (done, deadline) = (now, .now + patience) }
            guard .now < deadline else { throw TortureFailure("no photo became final for \(patience): \(left)") }
            // Polls, because the faults may affect every kind of notification.
            usleep(50_000)
        }
        try cluster.verifyStore()
        try verifyFinished()
    }

    private func verifyFinished() throws {
        for facts in try cluster.store.facts(of: open) where facts.state == .finished {
            let verification = try cluster.verify(facts.id)
            guard verification.problems.isEmpty else { throw TortureFailure("batch \(facts.id) has problems") }
            batches += 1
            photos += verification.photos
            repeats += verification.repeats
            try cluster.forget(facts.id)
            open.removeAll { $0 == facts.id }
        }
    }
}
