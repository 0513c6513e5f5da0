import DarkroomText

/// Escapes untrusted text for a log line: the result cannot end the line, end the value or control a terminal.
enum LogText {
    /// The largest number of bytes of a value, before and after escaping, so that several values fit into one line.
    static let maxBytes = 1000

    /// Returns the text, or its beginning and an ellipsis if it has more than ``maxBytes`` bytes.
    static func cut(_ text: String) -> String {
        guard text.utf8.count > maxBytes else { return text }
        var beginning = ""
        for scalar in text.unicodeScalars where beginning.utf8.count < maxBytes {
            beginning.unicodeScalars.append(scalar)
        }
        return beginning + "\u{2026}"
    }

    static func appendJSON(_ text: String, to line: inout [UInt8]) {
        PrintableText.appendQuoted(text, .json, mostBytes: maxBytes, to: &line)
    }

    /// Appends the text, in quotes unless it is one plain word.
    static func appendReadable(_ text: String, to line: inout [UInt8]) {
        let quoted = "\"=\\".utf8
        let isWord = text.utf8.allSatisfy { (33...126).contains($0) && !quoted.contains($0) }
        if isWord, !text.isEmpty, text.utf8.count <= maxBytes {
            line += text.utf8
        } else {
            PrintableText.appendQuoted(text, .people, mostBytes: maxBytes, to: &line)
        }
    }
}
