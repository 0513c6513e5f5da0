/// In which order transfers get the places at a host that they wait for.
public struct TransferOrder: Sendable, Hashable {
    /// The larger is next.
    public var priority: Int
    /// Of one priority, groups take turns, whatever their sizes.
    public var group: String

    /// An order; transfers that are given none are all of one.
    public init(priority: Int = 0, group: String = "") {
        self.priority = priority
        self.group = group
    }
}
