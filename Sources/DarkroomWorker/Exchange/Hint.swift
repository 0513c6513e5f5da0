import DarkroomModel
import Foundation

/// A message of the control channel: "this changed".
enum Hint: Equatable {
    /// A batch has operations to hand out; `workers` hear it.
    case work(workers: Int, priority: Priority)
    /// Flags, priority or focus of a batch.
    case batch(BatchID, Steering, version: Int)
    /// Photos of a batch were cancelled one by one.
    case photos(BatchID, version: Int)
    /// Flags or limits of the cluster.
    case cluster(ClusterSteering, version: Int)

    private struct Message: Decodable {
        let change: String
        let workers: Int?
        let priority: String?
        let batch: BatchID?
        let steering: String?
        let cluster: String?
        let version: Int?
    }

    /// A message as it came; nil when it is none that this version knows.
    init?(_ text: [UInt8]) {
        guard let message = try? JSONDecoder().decode(Message.self, from: Data(text)) else { return nil }
        switch (message.change, message.batch, message.version) {
        case ("work", _, _):
            let priority = message.priority.flatMap(Priority.init(rawValue:)) ?? .normal
            self = .work(workers: message.workers ?? 1, priority: priority)
        case ("batch", let batch?, let version?):
            guard let steering = message.steering.flatMap({ Steering($0) }) else { return nil }
            self = .batch(batch, steering, version: version)
        case ("photos", let batch?, let version?):
            self = .photos(batch, version: version)
        case ("cluster", _, let version?):
            guard let cluster = message.cluster.flatMap({ ClusterSteering($0) }) else { return nil }
            self = .cluster(cluster, version: version)
        default:
            return nil
        }
    }
}
