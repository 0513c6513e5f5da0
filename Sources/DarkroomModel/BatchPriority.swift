/// How urgent a batch is. Operations of a higher priority are claimed first; within one priority batches take turns.
public enum BatchPriority: String, Sendable, CaseIterable, Codable, Comparable {
    /// After everything else.
    case veryLow
    /// After `normal`.
    case low
    /// The priority unless another is given.
    case normal
    /// Before `normal`.
    case high
    /// Before everything else.
    case veryHigh

    /// The rank from 0 (`veryLow`) to 4 (`veryHigh`), as the scripts count.
    package var rank: Int {
        switch self {
        case .veryLow: 0
        case .low: 1
        case .normal: 2
        case .high: 3
        case .veryHigh: 4
        }
    }

    /// Compares the urgency; the less urgent is smaller.
    public static func < (left: BatchPriority, right: BatchPriority) -> Bool { left.rank < right.rank }
}
