/// The order in which waiting transfers get slots.
package struct TransferOrder: Sendable, Hashable {
    /// Transfers with a larger value get slots first. They do not wait for slots of transfers with a smaller value, see
    /// ``TransferConfiguration/maxRequests``.
    package var priority: Int
    /// Within a priority, transfers with `true` get slots first.
    package var isFirst: Bool
    /// Within a priority, groups take turns, regardless of their sizes.
    package var group: String

    /// Creates an order. All transfers with the default values have the same order.
    package init(priority: Int = 0, isFirst: Bool = false, group: String = "") {
        self.priority = priority
        self.isFirst = isFirst
        self.group = group
    }

    /// Whether transfers of this order get a slot before transfers of the `other` order.
    func isBefore(_ other: TransferOrder) -> Bool {
        priority == other.priority ? isFirst && !other.isFirst : priority > other.priority
    }
}
