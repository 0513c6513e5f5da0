/// The order in which waiting transfers begin.
package struct TransferOrder: Sendable, Hashable {
    /// Transfers with a larger value begin first. They do not wait until transfers with a smaller value have ended, see
    /// ``TransferConfiguration/maxRequests``.
    package var priority: Int
    /// Within a priority, transfers with `true` begin first.
    package var isFirst: Bool
    /// Within a priority, groups take turns, regardless of their sizes.
    package var group: String

    /// Creates an order. All transfers with the default values have the same order.
    package init(priority: Int = 0, isFirst: Bool = false, group: String = "") {
        self.priority = priority
        self.isFirst = isFirst
        self.group = group
    }

    /// Whether transfers of this order begin before transfers of the `other` order.
    func isBefore(_ other: TransferOrder) -> Bool {
        priority == other.priority ? isFirst && !other.isFirst : priority > other.priority
    }
}
