/// How urgent a batch is. Readiness comes first; priority orders only what is ready.
public enum Priority: String, Sendable, CaseIterable, Codable, Comparable {
    case veryLow, low, normal, high, veryHigh

    /// The rank from 0 (`veryLow`) to 4 (`veryHigh`), as the scripts count.
    public var rank: Int {
        switch self {
        case .veryLow: 0
        case .low: 1
        case .normal: 2
        case .high: 3
        case .veryHigh: 4
        }
    }

    /// The less urgent is the smaller.
    public static func < (left: Priority, right: Priority) -> Bool { left.rank < right.rank }
}
