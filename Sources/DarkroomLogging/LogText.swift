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
    static func appendJSON(_ text: String, to line: inout [UInt8]) { append(text, to: &line, escape: escapedForJSON) }

    /// Appends the text as it is where it is one plain word, else in quotes.
    static func appendReadable(_ text: String, to line: inout [UInt8]) {
        let quoted = "\"=\\".utf8
        let isWord = text.utf8.allSatisfy { (33...126).contains($0) && !quoted.contains($0) }
        if isWord, !text.isEmpty, text.utf8.count <= maxBytes {
            line += text.utf8
        } else {
            append(text, to: &line, escape: escapedForPeople)
        }
    }

    private static func append(_ text: String, to line: inout [UInt8], escape: (Unicode.Scalar) -> String?) {
        line.append(UInt8(ascii: "\""))
        let end = line.count + maxBytes
        for scalar in text.unicodeScalars {
            guard line.count < end else {
                line += "\u{2026}".utf8
                break
            }
            if let escaped = escape(scalar) {
                line += escaped.utf8
            } else {
                line += UTF8.encode(scalar)!  // every scalar can be encoded
            }
        }
        line.append(UInt8(ascii: "\""))
    }

    private static func escapedForJSON(_ scalar: Unicode.Scalar) -> String? {
        if scalar == "\"" || scalar == "\\" { return "\\\(scalar)" }
        guard isInvisible(scalar) else { return nil }
        return UTF16.encode(scalar)!.map { unit in  // every scalar can be encoded
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }

    private static func escapedForPeople(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "\"", "\\": "\\\(scalar)"
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        case _ where isInvisible(scalar): "\\u{\(String(scalar.value, radix: 16))}"
        default: nil
        }
    }

    /// Control characters, line ends of Unicode, and marks that change the order or the look of what stands around them.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 127 { return scalar.value < 32 }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}
