/// A condition that becomes true once and stays true, for example "cancelled". Any thread may set and read the latch.
package final class Latch: Sendable {
    private let state = Locked(false)

    package init() {}

    package var isSet: Bool { state.withLock { $0 } }

    package func set() { state.withLock { $0 = true } }
}
