import ArgumentParsing
import Darkroom
import DarkroomConcurrency
import Foundation

/// Handles the stop signals of a run: the first interrupt stops the run gracefully, the second ends the process.
final class RunInterruption: Sendable {
    private struct State {
        var isRequested = false
        var stop: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// True after the first interrupt.
    var isRequested: Bool { state.withLock { $0.isRequested } }

    /// Sets the function that stops the run gracefully. If no function is set, an interrupt ends the process at once,
    /// which is safe before the work starts and after it has ended.
    func onFirst(_ stop: (@Sendable () -> Void)?) { state.withLock { $0.stop = stop } }

    /// Handles a signal.
    /// - Parameter count: The number of signals so far: 1 for the first signal, 2 for the second.
    func signal(_ count: Int) {
        let stop = state.withLock { state in
            state.isRequested = true
            return state.stop
        }
        guard count == 1, let stop else { _exit(ExitCode.interrupted.rawValue) }
        stop()
    }
}
