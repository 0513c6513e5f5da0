import DarkroomText
import Foundation

/// Writes a line to standard error. A failure is ignored: it can be reported nowhere.
func note(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data((PrintableText.line(line) + "\n").utf8))
}
