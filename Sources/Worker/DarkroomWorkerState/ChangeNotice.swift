import DarkroomModel
import Foundation

/// A message on the control channel: controls have changed, operations can be claimed, or a worker is idle.
package enum ChangeNotice: Equatable, Sendable {
    /// Operations can be claimed.
    case work(Work)
    /// A worker without operations has found no operation to claim. It asks the other workers to release some.
    case idle(Idle)
    /// Flags, priority or focus of a batch have changed.
    case batch(BatchID, BatchControls, version: Int)
    /// Photos of a batch were cancelled one by one.
    case photos(BatchID, version: Int)
    /// Flags or limits of the cluster have changed.
    case cluster(ClusterControls, version: Int)

    /// The number of operations that can be claimed, and the number of workers that receive the notice.
    package struct Work: Equatable, Sendable {
        package let workers: Int
        package let priority: BatchPriority
        package let operations: Int

        /// The smallest number of workers that should claim, even for a single operation, because some workers are busy
        /// and others refuse the batch.
        private static let leastClaimants = 16
        /// Larger numbers in a message are replaced with this number.
        fileprivate static let most = 1_000_000

        init(workers: Int, priority: BatchPriority, operations: Int) {
            self.workers = max(1, min(workers, Self.most))
            self.priority = priority
            self.operations = max(0, min(operations, Self.most))
        }

        /// The average number of workers that should claim. The number of operations limits this average, so that a
        /// notice has a bounded cost in a large cluster. The other workers learn from their next heartbeat that the
        /// ready queues have changed.
        package var claimants: Int { min(workers, Self.leastClaimants + 2 * operations) }

        /// Whether this worker should claim. Each worker passes a random number, at least 0 and below 1.
        package func isFor(draw: Double) -> Bool { draw * Double(workers) < Double(claimants) }
    }

    /// The number of workers that receive the notice of an idle worker.
    package struct Idle: Equatable, Sendable {
        package let workers: Int

        /// The number of operations that all workers together should release, which is enough for two claims.
        private static let wanted = 32

        init(workers: Int) { self.workers = max(2, min(workers, Work.most)) }

        /// The largest number of operations that this worker should release.
        package var most: Int { max(1, Self.wanted / (workers - 1)) }

        /// Whether this worker should release operations. Each worker passes a random number, at least 0 and below 1.
        package func isFor(draw: Double) -> Bool { draw * Double(workers - 1) < Double(Self.wanted) }
    }

    private struct Message: Decodable {
        let change: String
        let workers: Int?
        let priority: String?
        let operations: Int?
        let batch: BatchID?
        let controls: String?
        let cluster: String?
        let version: Int?
    }

    /// Decodes a message. Returns nil if this version of Darkroom does not know the message.
    package init?(_ text: [UInt8]) {
        guard let message = try? UntrustedJSON().decode(Message.self, from: text),
            [message.workers, message.version].allSatisfy({ $0.map(StoredBounds.numbers.contains) ?? true })
        else { return nil }
        switch (message.change, message.batch, message.version) {
        case ("work", _, _):
            let priority = message.priority.flatMap(BatchPriority.init(rawValue:)) ?? .normal
            let workers = message.workers ?? 1
            self = .work(Work(workers: workers, priority: priority, operations: message.operations ?? workers))
        case ("idle", _, _):
            guard let workers = message.workers else { return nil }
            self = .idle(Idle(workers: workers))
        case ("batch", let batch?, let version?):
            guard let controls = message.controls.flatMap({ BatchControls($0) }) else { return nil }
            self = .batch(batch, controls, version: version)
        case ("photos", let batch?, let version?):
            self = .photos(batch, version: version)
        case ("cluster", _, let version?):
            guard let cluster = message.cluster.flatMap({ ClusterControls($0) }) else { return nil }
            self = .cluster(cluster, version: version)
        default:
            return nil
        }
    }
}
