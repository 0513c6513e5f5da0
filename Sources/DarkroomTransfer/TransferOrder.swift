/// In which order transfers get the places that they wait for.
package struct TransferOrder: Sendable, Hashable {
    /// A transfer with a larger value is next. It does not wait for the places of those with a smaller value, see
    /// ``TransferConfiguration/maxRunning``.
    package var priority: Int
    /// Of one priority, these are next.
    package var isFirst: Bool
    /// Of one priority, groups take turns, whatever their sizes.
    package var group: String

    /// An order; transfers that are given none are all of one.
    package init(priority: Int = 0, isFirst: Bool = false, group: String = "") {
        self.priority = priority
        self.isFirst = isFirst
        self.group = group
    }

    /// Whether those of this order get a place before those of `other`.
    func isBefore(_ other: TransferOrder) -> Bool {
        priority == other.priority ? isFirst && !other.isFirst : priority > other.priority
    }
}
