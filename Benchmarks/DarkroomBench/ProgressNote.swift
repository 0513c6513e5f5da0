import DarkroomText
import Foundation

/// Writes a line to standard error. An error is ignored, since there is no place to report it.
func note(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data((PrintableText.line(line) + "\n").utf8))
}
