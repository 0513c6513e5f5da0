/// A condition that becomes true once and stays so, such as "cancelled"; any thread may set and read it.
package final class Latch: Sendable {
    private let state = Locked(false)

    /// A latch that is not set.
    package init() {}

    /// True once ``set()`` was called.
    package var isSet: Bool { state.withLock { $0 } }

    /// Sets the latch.
    package func set() { state.withLock { $0 = true } }
}
