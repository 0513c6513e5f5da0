/// A condition that becomes true once and then stays true, for example "cancelled". Any thread may set and read it.
package final class Latch: Sendable {
    private let state = Locked(false)

    /// Creates a latch that is not set.
    package init() {}

    /// Whether ``set()`` was called.
    package var isSet: Bool { state.withLock { $0 } }

    /// Sets the latch.
    package func set() { state.withLock { $0 = true } }
}
