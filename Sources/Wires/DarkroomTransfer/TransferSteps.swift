import DarkroomHosts

/// What a transfer asks and tells at its steps. The functions must not block.
package struct TransferSteps: Sendable {
    /// Called on the engine's thread before each request and before a file is read. If it returns false, the transfer ends
    /// with `.cancelled`.
    package var mayBegin: (@Sendable () -> Bool)?
    /// Called on the engine's thread when the transfer begins to wait, or waits for something else. The wait ends with the
    /// next call to `mayBegin`.
    package var waits: (@Sendable (Wait, RetryHistory) -> Void)?
    /// Returns whether the transfer may keep `bytes` of its body in memory. Called when the first byte of the body has
    /// arrived, and each time the body needs more memory than was allowed before. If the function returns false, the engine
    /// receives nothing more from the server, and calls the function again after ``TransferEngine/resume()``. Called on
    /// different threads of the engine.
    package var mayCarry: (@Sendable (_ bytes: Int) -> Bool)?

    /// What a transfer waits for.
    package enum Wait: Sendable {
        /// The addresses of its host.
        case name
        /// Its turn at its host, or the end of a short pause that the host has asked for.
        case turn
        /// A host that does not answer, or that has asked for a long pause. It gets no request before this time.
        case host(until: ContinuousClock.Instant)
        /// Its next attempt after a failure.
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
