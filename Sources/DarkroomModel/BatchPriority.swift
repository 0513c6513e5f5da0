/// The priority of a batch. Operations of a higher priority are claimed first. Batches of the same priority take turns.
public enum BatchPriority: String, Sendable, CaseIterable, Codable, Comparable {
    /// After all other priorities.
    case veryLow
    /// After `normal`.
    case low
    /// The default priority.
    case normal
    /// Before `normal`.
    case high
    /// Before all other priorities.
    case veryHigh

    /// The rank that the scripts use, from 0 (`veryLow`) to 4 (`veryHigh`).
    package var rank: Int {
        switch self {
        case .veryLow: 0
        case .low: 1
        case .normal: 2
        case .high: 3
        case .veryHigh: 4
        }
    }

    /// Compares the ranks; the lower priority is smaller.
    public static func < (left: BatchPriority, right: BatchPriority) -> Bool { left.rank < right.rank }
}
