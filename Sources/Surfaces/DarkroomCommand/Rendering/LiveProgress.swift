import Darkroom
import DarkroomConcurrency
import DarkroomText
import Foundation

/// Shows the progress of batches on standard error. On a terminal, redraws the same lines. Otherwise, prints a plain
/// line at most every 5 s if the counts have changed, and every 5 min if they have not. Any thread may call the
/// methods.
final class LiveProgress: Sendable {
    private struct State {
        var lines: ProgressLines?
        var table: ProgressTable?
        /// The width of each live line on the terminal, in columns.
        var drawn: [Int] = []
        var plain = PlainLines()
    }

    private let feedOnly: Bool
    private let isTerminal: Bool
    private let isQuiet: Bool
    private let hasColours: Bool
    private let state = Locked(State())

    /// - Parameters:
    ///   - feedOnly: Show only the progress of feeding, not of the photos.
    ///   - onlyOnTerminal: Print nothing if standard error is not a terminal.
    init(feedOnly: Bool = false, onlyOnTerminal: Bool = false) {
        self.feedOnly = feedOnly
        let environment = ProcessInfo.processInfo.environment
        isTerminal = isatty(STDERR_FILENO) == 1 && environment["TERM"] != "dumb"
        isQuiet = onlyOnTerminal && !isTerminal
        hasColours = environment["NO_COLOR", default: ""].isEmpty
    }

    /// - Parameter now: The Redis time at which the facts were read, in milliseconds since 1970.
    func show(_ facts: BatchFacts, problems: [BatchProblem], now: Int) {
        state.withLock { state in
            if state.lines == nil { state.lines = ProgressLines(facts) }
            state.lines?.update(facts, problems: problems, now: now)
            draw(&state)
        }
    }

    func show(_ batches: [BatchFacts], problems: [BatchProblem], now: Int) {
        if batches.count == 1 { return show(batches[0], problems: problems, now: now) }
        state.withLock { state in
            if state.table == nil { state.table = ProgressTable() }
            state.table?.update(batches, problems: problems, now: now)
            draw(&state)
        }
    }

    /// Writes a permanent line above the live lines.
    func note(_ text: String) {
        state.withLock { state in
            let erased = erasing(&state)
            write(erased + PrintableText.line(text) + "\n" + drawing(&state))
        }
    }

    /// Erases the live lines, and discards the measured rates.
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
        } else if !isQuiet, let lines = state.lines, state.plain.isDue(lines.counts(feedOnly: feedOnly)) {
            write(lines.line(feedOnly: feedOnly) + "\n")
        }
    }

    /// ECMA-48: CR moves the cursor to the first column (the terminal may have echoed a key such as `^C`), CUU moves it
    /// up, and ED erases to the end of the screen. If the terminal has become narrower, the lines were wrapped; the
    /// number of rows takes this into account.
    private func erasing(_ state: inout State) -> String {
        guard !state.drawn.isEmpty else { return "" }
        let width = terminalWidth
        let rows = state.drawn.reduce(0) { $0 + max(1, ($1 + width - 1) / width) }
        state.drawn = []
        return "\r\u{1b}[\(rows)A\u{1b}[J"
    }

    private func drawing(_ state: inout State) -> String {
        guard isTerminal else { return "" }
        // A line of the full width would wrap to two lines.
        let width = terminalWidth - 1
        let lines =
            state.lines?.stages(width: width, feedOnly: feedOnly) ?? state.table?.lines(width: width) ?? []
        state.drawn = lines.map(\.columns)
        return lines.map { (hasColours ? $0.ansi : $0.text) + "\n" }.joined()
    }

    private var terminalWidth: Int {
        guard let width = terminalSize(of: STDERR_FILENO)?.width, width > 1 else { return 80 }
        return width
    }

    private func write(_ text: String) {
        if !text.isEmpty { writeToStandardError(text) }
    }
}
