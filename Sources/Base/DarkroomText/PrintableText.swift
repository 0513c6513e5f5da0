/// Escapes text for printing. The result contains no code point that controls a terminal, ends a line, or changes the
/// order or appearance of the surrounding text.
///
/// This type escapes all printed text: standard output, standard error, logs, the live view, JSON. Names, URLs,
/// messages of servers and contents of files are not trusted.
///
/// These code points are escaped:
/// - control characters: C0, DEL, C1;
/// - the line and paragraph separators U+2028 and U+2029;
/// - format characters, including the marks and overrides of bidirectional text, and all other characters without a
///   visible form (Unicode: default ignorable), such as zero-width spaces, tags, fillers and the soft hyphen.
///
/// Scripts and emoji need joiners between visible non-Latin characters, and variation selectors directly after such a
/// character. In these positions, joiners and variation selectors are not escaped. In Swift strings, U+FFFD has already
/// replaced invalid UTF-8 and unpaired surrogates.
package enum PrintableText {
    /// The format of escapes.
    package enum Form: Sendable {
        /// For people: `\n`, `\u{1b}`.
        case people
        /// For JSON: `\n`, `\u001b`, `\ud83d\ude00` (RFC 8259, section 7).
        case json
    }

    /// Escapes the text in the format for people.
    /// - Parameter kept: The code points to leave unescaped, for example line feeds in a text of several lines.
    package static func escaped(_ text: String, keeping kept: Set<Unicode.Scalar> = []) -> String {
        guard !text.utf8.allSatisfy(isPlain) else { return text }
        var escaped = ""
        forEachScalar(of: text) { scalar, isHarmful in
            if isHarmful, !kept.contains(scalar) {
                escaped += escape(scalar, .people)
            } else {
                escaped.unicodeScalars.append(scalar)
            }
            return true
        }
        return escaped
    }

    /// Escapes the text in the format for people, as one line. Of all control characters, only tabs are kept.
    package static func line(_ text: String) -> String { escaped(text, keeping: ["\t"]) }

    /// Appends the text in quotes to `bytes`. Quotes and backslashes in the text are also escaped.
    /// - Parameter mostBytes: The maximum length of the escaped text in bytes. If the text is longer, only its
    ///   beginning is appended, followed by "…".
    package static func appendQuoted(
        _ text: String, _ form: Form, mostBytes: Int? = nil, to bytes: inout [UInt8]
    ) {
        bytes.append(UInt8(ascii: "\""))
        let end = mostBytes.map { bytes.count + $0 } ?? .max
        forEachScalar(of: text) { scalar, isHarmful in
            guard bytes.count < end else {
                bytes += "\u{2026}".utf8
                return false
            }
            if isHarmful {
                bytes += escape(scalar, form).utf8
            } else if scalar == "\"" || scalar == "\\" {
                bytes += [UInt8(ascii: "\\"), UInt8(scalar.value)]
            } else {
                bytes += UTF8.encode(scalar)!  // every scalar can be encoded
            }
            return true
        }
        bytes.append(UInt8(ascii: "\""))
    }

    // MARK: - Code points

    /// Whether an ASCII byte is never escaped.
    private static func isPlain(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }

    /// Calls `body` with each code point and whether to escape the code point, until `body` returns false.
    private static func forEachScalar(of text: String, _ body: (Unicode.Scalar, Bool) -> Bool) {
        var scalars = text.unicodeScalars.makeIterator()
        var before: Unicode.Scalar?  // the previous code point, if it was not escaped
        var current = scalars.next()
        while let scalar = current {
            let next = scalars.next()
            let isHarmful = isHarmful(scalar, after: before, before: next)
            guard body(scalar, isHarmful) else { return }
            before = isHarmful ? nil : scalar
            current = next
        }
    }

    private static func isHarmful(
        _ scalar: Unicode.Scalar, after before: Unicode.Scalar?, before next: Unicode.Scalar?
    ) -> Bool {
        if scalar.value < 0x7F { return scalar.value < 0x20 }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        case .format: break
        default: guard properties.isDefaultIgnorableCodePoint else { return false }
        }
        guard let before else { return true }
        if properties.isVariationSelector { return !hasVariants(before) }
        guard properties.isJoinControl, let next else { return true }
        return !(hasVariants(before) || before.properties.isVariationSelector) || !hasVariants(next)
    }

    /// Whether a joiner next to this character, or a variation selector after this character, changes how the text
    /// looks. True for emoji, and for characters of scripts other than Latin.
    private static func hasVariants(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        guard scalar.value >= 0x300 || (scalar.value > 0x7F && properties.isEmoji) else { return false }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .unassigned: return false
        default: return !properties.isDefaultIgnorableCodePoint
        }
    }

    private static func escape(_ scalar: Unicode.Scalar, _ form: Form) -> String {
        switch (scalar, form) {
        case ("\n", _): return "\\n"
        case ("\r", _): return "\\r"
        case ("\t", _): return "\\t"
        case (_, .people): return "\\u{\(String(scalar.value, radix: 16))}"
        case (_, .json):
            // UTF-16 can encode every scalar.
            return UTF16.encode(scalar)!.map { "\\u" + $0.padded(to: 4, radix: 16) }.joined()
        }
    }
}
