/// The priority of a batch. Operations of a higher priority are claimed first. Batches of the same priority take turns.
public enum BatchPriority: String, Sendable, CaseIterable, Codable, Comparable {
    /// Claimed after all other priorities.
    case veryLow
    /// Claimed after `normal` and higher priorities.
    case low
    /// The default priority.
    case normal
    /// Claimed before `normal` and lower priorities.
    case high
    /// Claimed before all other priorities.
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

    /// Compares the ranks. The lower priority is smaller.
    public static func < (left: BatchPriority, right: BatchPriority) -> Bool { left.rank < right.rank }
}
