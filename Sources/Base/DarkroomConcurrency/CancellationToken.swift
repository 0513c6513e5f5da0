/// Tells the code that works on a job whether the result of the job is still needed. Any thread may use the token.
///
/// The level never decreases. Long computations check ``isCancelled`` regularly. Code that waits, for example for a
/// transfer, sets a handler.
package final class CancellationToken: Sendable {
    /// The extent of the cancellation.
    package enum Level: Int, Comparable, Sendable {
        /// Nothing is cancelled.
        case none
        /// Work that has not started must not start. Work that has started continues.
        case withdrawn
        /// All work must stop.
        case cancelled

        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    private struct State {
        var level = Level.none
        var handler: (@Sendable (Level) -> Void)?
    }

    private let state = Locked(State())

    package init() {}

    package var level: Level { state.withLock { $0.level } }

    package var isCancelled: Bool { level == .cancelled }

    package func cancel() { raise(to: .cancelled) }

    package func withdraw() { raise(to: .withdrawn) }

    /// Sets the handler for changes of the level, in place of an earlier handler; nil removes the handler.
    ///
    /// The token calls the handler on the thread that raises the level. If the level
    /// has already been raised, this function calls the handler at once.
    package func onChange(_ handler: (@Sendable (Level) -> Void)?) {
        let level = state.withLock { state in
            state.handler = handler
            return state.level
        }
        if level > .none { handler?(level) }
    }

    private func raise(to level: Level) {
        let handler = state.withLock { state -> (@Sendable (Level) -> Void)? in
            guard state.level < level else { return nil }
            state.level = level
            defer { if level == .cancelled { state.handler = nil } }
            return state.handler
        }
        handler?(level)
    }
}
