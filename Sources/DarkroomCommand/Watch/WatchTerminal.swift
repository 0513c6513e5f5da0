import CSystem
import DarkroomText
import Foundation

/// The terminal that `watch` draws on: its alternate screen, with keys that come as they are pressed.
///
/// Whatever ends the program (but SIGKILL), the terminal is as it was before: ``leave()`` restores it, and so does a crash.
final class WatchTerminal {
    /// True when standard output is a terminal that can draw; otherwise plain lines are for it.
    static var canDraw: Bool {
        let kind = ProcessInfo.processInfo.environment["TERM"] ?? ""
        return isatty(STDOUT_FILENO) == 1 && !kind.isEmpty && kind != "dumb"
    }

    /// True when keys come from the terminal that is drawn on.
    static var hasKeys: Bool { isatty(STDIN_FILENO) == 1 }

    // xterm's alternate screen; no cursor; lines that are too long are cut, not wrapped.
    private static let begin = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l\u{1b}[H\u{1b}[2J"
    private static let end = "\u{1b}[m\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"

    private let hasColours = ProcessInfo.processInfo.environment["NO_COLOR", default: ""].isEmpty
    private var drawn: [String] = []

    /// Takes the screen and the keys.
    func enter() throws(CommandError) {
        guard csystem_change_terminal(STDOUT_FILENO, Self.end) == 0 else {
            throw CommandError("change the settings of the terminal: \(systemErrorText())")
        }
        drawn = []
        try write(Self.begin)
    }

    /// Gives both back. Any thread may call it.
    static func leave() { csystem_restore_terminal() }

    /// Columns and lines.
    var size: (width: Int, height: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Forgets what is drawn: the terminal has another size now, or somebody else has drawn on it.
    func invalidate() throws(CommandError) {
        drawn = []
        try write("\u{1b}[2J")
    }

    /// Draws a picture: the lines that are not there yet.
    func draw(_ lines: [StyledLine]) throws(CommandError) {
        let texts = lines.map { hasColours ? $0.ansi : $0.text }
        // ECMA-48: CUP goes to a line, EL erases the rest of it, ED all below.
        var output = ""
        for (row, text) in texts.enumerated() where row >= drawn.count || drawn[row] != text {
            // Erased first: behind a full line the cursor stands on its last character.
            output += "\u{1b}[\(row + 1);1H\u{1b}[K\(text)"
        }
        if drawn.count > texts.count { output += "\u{1b}[\(texts.count + 1);1H\u{1b}[J" }
        drawn = texts
        try write(output)
    }

    /// Writes lines to where the cursor stands, on the normal screen.
    func print(_ lines: [StyledLine]) throws(CommandError) {
        try write(lines.map { (hasColours ? $0.ansi : $0.text) + "\n" }.joined())
    }

    private func write(_ text: String) throws(CommandError) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN {
                var waiting = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, 100)
            } else if errno != EINTR {
                throw CommandError("write to the terminal: \(systemErrorText())")
            }
        }
    }
}
