import Darkroom
import DarkroomText
import Foundation

/// Buffered standard output. ``flush()`` writes the content of the buffer.
final class StandardOutput {
    let isTerminal = isatty(STDOUT_FILENO) == 1
    private var buffer: [UInt8] = []

    /// The columns of the terminal.
    var width: Int { terminalSize(of: STDOUT_FILENO)?.width ?? 80 }

    /// Writes bytes unchanged: photos, or text without control characters.
    func write(_ bytes: some Collection<UInt8>) throws {
        buffer += bytes
        if buffer.count >= 1 << 16 { try flush() }
    }

    /// Writes a line of text. Control characters other than tabs are escaped.
    func line(_ text: String) throws { try write((PrintableText.line(text) + "\n").utf8) }

    func document(_ json: JSON) throws {
        try line(json.text)
        try flush()
    }

    func flush() throws {
        defer { buffer.removeAll(keepingCapacity: true) }
        var rest = buffer[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if written >= 0 {
                rest = rest.dropFirst(written)
            } else if errno != EINTR {
                throw OutputError(reason: systemErrorText())
            }
        }
    }
}

/// A write to standard output failed.
struct OutputError: Error, CustomStringConvertible {
    let reason: String
    var description: String { "write to standard output: \(reason)" }
}

/// The columns and lines of a terminal; nil if they are unknown.
func terminalSize(of descriptor: Int32) -> (width: Int, height: Int)? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
}

/// Writes a line to standard error, for messages that are not the result of the command. Control characters are
/// escaped.
func printToStandardError(_ text: String) { writeToStandardError(PrintableText.line(text) + "\n") }

/// Writes printable text to standard error. An error (a full disk, a closed pipe) is ignored, because it cannot be
/// reported.
func writeToStandardError(_ text: String) { try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
