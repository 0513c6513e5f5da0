import DarkroomText

/// Text of strangers as it may stand in a line of a log: nothing in it ends the line, ends the value or steers a terminal.
enum LogText {
    /// Bytes of a value at most, before and after escaping: some of them must fit into one line.
    static let maxBytes = 1000

    /// The text, or its beginning and an ellipsis.
    static func cut(_ text: String) -> String {
        guard text.utf8.count > maxBytes else { return text }
        var beginning = ""
        for scalar in text.unicodeScalars where beginning.utf8.count < maxBytes {
            beginning.unicodeScalars.append(scalar)
        }
        return beginning + "\u{2026}"
    }

    /// Appends the text as a JSON string.
    static func appendJSON(_ text: String, to line: inout [UInt8]) {
        PrintableText.appendQuoted(text, .json, mostBytes: maxBytes, to: &line)
    }

    /// Appends the text as it is where it is one plain word, else in quotes.
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
