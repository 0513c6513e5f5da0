import ArgumentParsing
import Darkroom
import DarkroomConcurrency
import Foundation

/// What interrupts do to a run: the first stops it in order, the second ends the process.
final class RunInterruption: Sendable {
    private struct State {
        var isRequested = false
        var stop: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// True after the first interrupt.
    var isRequested: Bool { state.withLock { $0.isRequested } }

    /// Takes what stops the run in order. Before that, and with nil, an interrupt ends the process at once: nothing is
    /// begun, or all is done.
    func onFirst(_ stop: (@Sendable () -> Void)?) { state.withLock { $0.stop = stop } }

    /// Takes the `count`th signal.
    func signal(_ count: Int) {
        let stop = state.withLock { state in
            state.isRequested = true
            return state.stop
        }
        guard count == 1, let stop else { _exit(ExitCode.interrupted.rawValue) }
        stop()
    }
}
