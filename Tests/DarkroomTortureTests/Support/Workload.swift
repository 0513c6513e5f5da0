import Darkroom
import Foundation
import FuzzSupport
import Testing

/// Batches of all sizes, one after the other, so that workers always have something to do; each is verified as it has finished.
final class Workload {
    private let cluster: TortureCluster
    private var random: SeededGenerator
    private var open: [BatchID] = []
    /// What was verified, as a whole.
    private(set) var batches = 0
    private(set) var photos = 0
    private(set) var repeats = 0

    /// A workload that has not begun.
    init(_ cluster: TortureCluster, seed: UInt64) {
        self.cluster = cluster
        random = SeededGenerator(seed: seed)
    }

    /// Verifies and forgets what has finished, and submits more where fewer than `count` photos are left to do.
    func keepUp(photos count: Int = 1500) throws {
        try verifyFinished()
        var left = try cluster.store.facts(of: open).reduce(0) { $0 + $1.photos - $1.counts.final }
        while left < count || open.count < 2 {
            let photos = random.number(in: 100..<800)
            open.append(try cluster.submit(photos: photos, operationSize: random.pick([10, 20, 50])))
            left += photos
        }
    }

    /// Waits until everything has finished, and verifies it; what is left in Redis is looked at, too.
    /// - Parameter patience: how long no photo of any batch may become final meanwhile. How long it takes as a whole depends on how
    ///   many operations have to run photo by photo.
    func finish(patience: Duration = .seconds(60)) throws {
        var (done, deadline) = (-1, ContinuousClock.now)
        while true {
            let facts = try cluster.store.facts(of: open)
            let left = facts.filter { $0.state != .finished }
            if left.isEmpty { break }
            let now = facts.reduce(0) { $0 + $1.counts.final + ($1.state == .finished ? 1 : 0) }
            if now > done { (done, deadline) = (now, .now + patience) }
            guard .now < deadline else { throw TortureFailure("nothing has happened for \(patience): \(left)") }
            // Asked for: there is no signal that all kinds of faults leave alone.
            usleep(50_000)
        }
        try cluster.verifyStore()
        try verifyFinished()
    }

    private func verifyFinished() throws {
        for facts in try cluster.store.facts(of: open) where facts.state == .finished {
            let verification = try cluster.verify(facts.id)
            guard verification.problems.isEmpty else { throw TortureFailure("batch \(facts.id) is not sound") }
            batches += 1
            photos += verification.photos
            repeats += verification.repeats
            try cluster.forget(facts.id)
            open.removeAll { $0 == facts.id }
        }
    }
}
