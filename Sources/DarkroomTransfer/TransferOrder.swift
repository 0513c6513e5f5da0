/// The order in which waiting transfers get slots.
package struct TransferOrder: Sendable, Hashable {
    /// Transfers with a larger value are next. They do not wait for slots that transfers with a smaller value hold, see
    /// ``TransferConfiguration/maxRunning``.
    package var priority: Int
    /// Within a priority, transfers with true are next.
    package var isFirst: Bool
    /// Within a priority, groups take turns, regardless of their sizes.
    package var group: String

    /// Creates an order. Transfers without a given order share the default one.
    package init(priority: Int = 0, isFirst: Bool = false, group: String = "") {
        self.priority = priority
        self.isFirst = isFirst
        self.group = group
    }

    /// Whether transfers of this order get a slot before those of `other`.
    func isBefore(_ other: TransferOrder) -> Bool {
        priority == other.priority ? isFirst && !other.isFirst : priority > other.priority
    }
}
