/// A condition that becomes true once and stays so, such as "cancelled"; any thread may set and read it.
public final class Latch: Sendable {
    private let state = Locked(false)

    /// A latch that is not set.
    public init() {}

    /// True once ``set()`` was called.
    public var isSet: Bool { state.withLock { $0 } }

    /// Sets the latch.
    public func set() { state.withLock { $0 = true } }
}
