/// What a transfer asks and tells at its steps. The functions must not block.
package struct TransferSteps: Sendable {
    /// Called on the engine's thread before each request and before a file is read. If it returns false, the transfer ends
    /// with `.cancelled`.
    package var mayBegin: (@Sendable () -> Bool)?
    /// Called on the engine's thread when the transfer begins to wait, or waits for something else. The wait ends with the
    /// next call to `mayBegin`.
    var waits: (@Sendable (Wait) -> Void)?
    /// Called on any thread of the engine when the first byte of the body has arrived, and when the body needs more memory
    /// than the earlier calls have allowed. If it returns false, the server waits until it returns true; it is called again
    /// after ``TransferEngine/resume()``.
    var mayCarry: (@Sendable (_ bytes: Int) -> Bool)?

    /// What a transfer waits for.
    package enum Wait: Sendable {
        /// The addresses of its host.
        case name
        /// Its turn at its host, or a pause that the host has asked for.
        case turn
        /// A host that does not answer.
        case host
        /// Its next attempt after a failure.
        case retry

        /// Whether the transfer waits for something that other transfers do not compete for.
        package var isIdle: Bool { self != .turn }
    }

    package init(
        mayBegin: (@Sendable () -> Bool)? = nil, waits: (@Sendable (Wait) -> Void)? = nil,
        mayCarry: (@Sendable (_ bytes: Int) -> Bool)? = nil
    ) {
        self.mayBegin = mayBegin
        self.waits = waits
        self.mayCarry = mayCarry
    }
}
