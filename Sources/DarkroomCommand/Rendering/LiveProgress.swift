import Darkroom
import DarkroomConcurrency
import DarkroomText
import Foundation

/// Shows on standard error how a batch goes on: lines that are drawn again and again on a terminal, else a plain line
/// from time to time. Any thread may call it.
final class LiveProgress: Sendable {
    private struct State {
        var lines: ProgressLines?
        /// How many lines stand on the terminal to be drawn over.
        var drawn = 0
        var nextLine = ContinuousClock.now + LiveProgress.linesEvery
    }

    private static let linesEvery = Duration.seconds(5)

    private let feedOnly: Bool
    private let isTerminal = isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    private let state = Locked(State())

    /// - Parameter feedOnly: show only how the list is fed, not what becomes of its photos.
    init(feedOnly: Bool) { self.feedOnly = feedOnly }

    /// Shows how the batch stands now, and what hinders it.
    func show(_ facts: BatchFacts, problems: [BatchProblem]) {
        state.withLock { state in
            if state.lines == nil { state.lines = ProgressLines(facts) }
            state.lines?.update(facts, problems: problems)
            guard let lines = state.lines else { return }
            if isTerminal {
                write(erasing(&state) + drawing(lines, &state))
            } else if state.nextLine <= .now {
                state.nextLine = .now + Self.linesEvery
                write(lines.line(feedOnly: feedOnly) + "\n")
            }
        }
    }

    /// Writes a line that stays, above the live ones.
    func note(_ text: String) {
        state.withLock { state in
            let erased = erasing(&state)
            write(erased + PrintableText.line(text) + "\n" + (state.lines.map { drawing($0, &state) } ?? ""))
        }
    }

    /// Takes the live lines away; what is shown afterwards begins anew.
    func end() {
        state.withLock { state in
            write(erasing(&state))
            state.lines = nil
        }
    }

    /// ECMA-48: up by lines, then erase to the end of the screen.
    private func erasing(_ state: inout State) -> String {
        defer { state.drawn = 0 }
        return state.drawn > 0 ? "\u{1b}[\(state.drawn)A\u{1b}[J" : ""
    }

    private func drawing(_ lines: ProgressLines, _ state: inout State) -> String {
        guard isTerminal else { return "" }
        let width = terminalWidth
        let stages = lines.stages(width: width, feedOnly: feedOnly)
        state.drawn = stages.count
        // A line that wrapped would be two to go up by.
        return stages.map { $0.prefix(width - 1) + "\n" }.joined()
    }

    private var terminalWidth: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 1 else { return 80 }
        return Int(size.ws_col)
    }

    private func write(_ text: String) {
        if !text.isEmpty { writeToStandardError(text) }
    }
}
