import Darkroom
import DarkroomConcurrency
import DarkroomText
import Foundation

/// Shows on standard error how batches go on: lines that are drawn again and again on a terminal, else a plain line
/// from time to time. Any thread may call it.
final class LiveProgress: Sendable {
    private struct State {
        var lines: ProgressLines?
        var table: ProgressTable?
        /// The columns of the lines that stand on the terminal to be drawn over.
        var drawn: [Int] = []
        var nextLine = ContinuousClock.now + LiveProgress.linesEvery
    }

    private static let linesEvery = Duration.seconds(5)

    private let feedOnly: Bool
    private let isTerminal: Bool
    private let isQuiet: Bool
    private let hasColours: Bool
    private let state = Locked(State())

    /// - Parameters:
    ///   - feedOnly: show only how the list is fed, not what becomes of its photos.
    ///   - onlyOnTerminal: print no lines where nothing can be drawn.
    init(feedOnly: Bool = false, onlyOnTerminal: Bool = false) {
        self.feedOnly = feedOnly
        let environment = ProcessInfo.processInfo.environment
        isTerminal = isatty(STDERR_FILENO) == 1 && environment["TERM"] != "dumb"
        isQuiet = onlyOnTerminal && !isTerminal
        hasColours = environment["NO_COLOR", default: ""].isEmpty
    }

    /// Shows how a batch stands now, and what hinders it.
    func show(_ facts: BatchFacts, problems: [BatchProblem]) {
        state.withLock { state in
            if state.lines == nil { state.lines = ProgressLines(facts) }
            state.lines?.update(facts, problems: problems)
            draw(&state)
        }
    }

    /// Shows how several batches stand now, and what hinders them.
    func show(_ batches: [BatchFacts], problems: [BatchProblem]) {
        if batches.count == 1 { return show(batches[0], problems: problems) }
        state.withLock { state in
            if state.table == nil { state.table = ProgressTable() }
            state.table?.update(batches, problems: problems)
            draw(&state)
        }
    }

    /// Writes a line that stays, above the live ones.
    func note(_ text: String) {
        state.withLock { state in
            let erased = erasing(&state)
            write(erased + PrintableText.line(text) + "\n" + drawing(&state))
        }
    }

    /// Takes the live lines away; what is shown afterwards begins anew.
    func end() {
        state.withLock { state in
            write(erasing(&state))
            state.lines = nil
            state.table = nil
        }
    }

    private func draw(_ state: inout State) {
        if isTerminal {
            let erased = erasing(&state)
            write(erased + drawing(&state))
        } else if !isQuiet, state.nextLine <= .now, let lines = state.lines {
            state.nextLine = .now + Self.linesEvery
            write(lines.line(feedOnly: feedOnly) + "\n")
        }
    }

    /// ECMA-48: to the first column, behind which the terminal may have shown a key that was pressed (`^C`), up by lines,
    /// and erase to the end of the screen. Where the terminal is narrower now, it has wrapped the lines that stand there.
    private func erasing(_ state: inout State) -> String {
        guard !state.drawn.isEmpty else { return "" }
        let width = terminalWidth
        let rows = state.drawn.reduce(0) { $0 + max(1, ($1 + width - 1) / width) }
        state.drawn = []
        return "\r\u{1b}[\(rows)A\u{1b}[J"
    }

    private func drawing(_ state: inout State) -> String {
        guard isTerminal else { return "" }
        // A line of the whole width would wrap, and be two to go up by.
        let width = terminalWidth - 1
        let lines =
            state.lines?.stages(width: width, feedOnly: feedOnly) ?? state.table?.lines(width: width) ?? []
        state.drawn = lines.map(\.columns)
        return lines.map { (hasColours ? $0.ansi : $0.text) + "\n" }.joined()
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
