import CSystem
import DarkroomFiles
import DarkroomText
import Foundation

/// The terminal on which `watch` draws: shows the alternate screen, and passes each key to the program at once.
///
/// The terminal is restored by ``leave()`` and also after a crash, but not after SIGKILL.
final class WatchTerminal {
    /// Whether standard output is a terminal that can draw; otherwise `watch` prints plain lines.
    static var canDraw: Bool {
        let kind = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return isatty(STDOUT_FILENO) == 1 && !kind.isEmpty && kind != "dumb"
    }

    /// Whether standard input is a terminal, so that keys can be read.
    static var hasKeys: Bool { isatty(STDIN_FILENO) == 1 }

    // Switches to the alternate screen of xterm, hides the cursor, and turns off wrapping of long lines.
    private static let begin = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l\u{1b}[H\u{1b}[2J"
    private static let end = "\u{1b}[m\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"

    private let hasColours = ProcessInfo.processInfo.environment["NO_COLOR", default: ""].isEmpty
    private var drawn: [String] = []

    /// Switches to the alternate screen and to unbuffered keys.
    func enter() throws(CommandError) {
        guard csystem_change_terminal(STDOUT_FILENO, Self.end) == 0 else {
            throw CommandError("change the settings of the terminal: \(systemErrorText())")
        }
        drawn = []
        try write(Self.begin)
    }

    /// Restores screen and keys. Any thread may call it.
    static func leave() { csystem_restore_terminal() }

    /// The size in columns and lines; 80 x 24 if unknown.
    var size: (width: Int, height: Int) {
        guard let size = terminalSize(of: STDOUT_FILENO), size.height > 0 else { return (80, 24) }
        return size
    }

    /// Clears the screen after the size of the terminal has changed. The next `draw` then draws all lines.
    func invalidate() throws(CommandError) {
        drawn = []
        try write("\u{1b}[2J")
    }

    /// Draws the lines that have changed since the last call.
    func draw(_ lines: [StyledLine]) throws(CommandError) {
        let texts = lines.map { hasColours ? $0.ansi : $0.text }
        // ECMA-48: CUP moves to a line, EL erases to the end of the line, ED erases to the end of the screen.
        var output = ""
        for (row, text) in texts.enumerated() where row >= drawn.count || drawn[row] != text {
            // The line is erased before it is drawn: after a full line, the cursor is on the last character, and EL
            // would erase it.
            output += "\u{1b}[\(row + 1);1H\u{1b}[K\(text)"
        }
        if drawn.count > texts.count { output += "\u{1b}[\(texts.count + 1);1H\u{1b}[J" }
        drawn = texts
        try write(output)
    }

    /// Writes lines at the cursor of the normal screen.
    func print(_ lines: [StyledLine]) throws(CommandError) {
        try write(lines.map { (hasColours ? $0.ansi : $0.text) + "\n" }.joined())
    }

    private func write(_ text: String) throws(CommandError) {
        do throws(SystemFailure) {
            try Array(text.utf8).withUnsafeBytes { bytes in
                Result { () throws(SystemFailure) in try writeAll(bytes, to: STDOUT_FILENO) }
            }.get()
        } catch {
            throw CommandError("write to the terminal: \(error.text)")
        }
    }
}
