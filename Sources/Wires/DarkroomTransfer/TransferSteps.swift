import DarkroomHosts

/// The functions that an engine calls at the steps of a transfer. They must not block.
package struct TransferSteps: Sendable {
    /// Called on the engine's thread before each request and before a file is read. If it returns false, the transfer ends
    /// with `.cancelled`.
    package var mayBegin: (@Sendable () -> Bool)?
    /// Called on the engine's thread when the transfer begins to wait, and when the reason for its wait changes. The
    /// wait ends with the next call of `mayBegin`.
    package var waits: (@Sendable (Wait, RetryHistory) -> Void)?
    /// Returns whether the transfer may keep `bytes` of its body in memory. Called when the first byte of the body has
    /// arrived, and each time the body needs more memory than was allowed before. If the function returns false, the
    /// engine stops receiving the body, and calls the function again after ``TransferEngine/resume()``. Called on
    /// different threads of the engine.
    package var mayCarry: (@Sendable (_ bytes: Int) -> Bool)?

    /// The reason for the wait of a transfer.
    package enum Wait: Sendable {
        /// The transfer waits for the addresses of its host.
        case name
        /// The transfer waits for its turn at its host, or for the end of a short pause that the host has asked for.
        case turn
        /// The transfer waits for a host that does not answer or has asked for a long pause. The host gets no request
        /// before this time.
        case host(until: ContinuousClock.Instant)
        /// The transfer waits for its next attempt after a failure.
        case retry(until: ContinuousClock.Instant)

        /// Whether the transfer waits for something that other transfers do not compete for.
        package var isIdle: Bool {
            if case .turn = self { false } else { true }
        }

        /// The earliest time at which the wait can end; nil if it is not known.
        package var end: ContinuousClock.Instant? {
            switch self {
            case .name, .turn: nil
            case .host(let end), .retry(let end): end
            }
        }
    }

    package init(
        mayBegin: (@Sendable () -> Bool)? = nil, waits: (@Sendable (Wait, RetryHistory) -> Void)? = nil,
        mayCarry: (@Sendable (_ bytes: Int) -> Bool)? = nil
    ) {
        self.mayBegin = mayBegin
        self.waits = waits
        self.mayCarry = mayCarry
    }
}
