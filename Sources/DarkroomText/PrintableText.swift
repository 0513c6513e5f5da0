/// Escapes text for printing: the result has no code point that controls a terminal, ends a line, or changes the order or the
/// look of the text around it.
///
/// All text that the program prints passes through here: standard output, standard error, logs, the live view, JSON. Names,
/// URLs, messages of servers and contents of files are not trusted.
///
/// These code points are written as escapes:
/// - control characters: C0, DEL, C1;
/// - the line and paragraph separators U+2028 and U+2029;
/// - format characters, among them the marks and overrides of bidirectional text, and everything else that has no look of
///   its own (Unicode: default ignorable), such as zero-width spaces, tags, fillers and the soft hyphen.
///
/// Joiners and variation selectors stay where scripts and pictures need them: between, or directly after, visible
/// characters that are not Latin. Bytes that are no UTF-8 and surrogates without a partner are U+FFFD in every Swift text.
package enum PrintableText {
    /// How escapes are written.
    package enum Form: Sendable {
        /// `\n`, `\u{1b}`.
        case people
        /// `\n`, `\u001b`, `\ud83d\ude00` (RFC 8259, section 7).
        case json
    }

    /// The text with escapes for people.
    /// - Parameter kept: code points that stay although they would be escaped: the tabs between columns, the line feeds of
    ///   a text of several lines.
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

    /// The text as one line with escapes for people. Tabs are the only control characters that stay.
    package static func line(_ text: String) -> String { escaped(text, keeping: ["\t"]) }

    /// Appends the text in quotes, with quotes and backslashes in it escaped as well.
    /// - Parameter mostBytes: of the text, after escaping; where it is longer, its beginning is followed by "…".
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

    /// ASCII that is printed as it is.
    private static func isPlain(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }

    /// Calls `body` with each code point and whether it must be escaped, until `body` returns false.
    private static func forEachScalar(of text: String, _ body: (Unicode.Scalar, Bool) -> Bool) {
        var scalars = text.unicodeScalars.makeIterator()
        var before: Unicode.Scalar?  // the one before, where it is not escaped
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

    /// Whether a joiner beside this character or a variation selector behind it has a purpose: it is a picture, or belongs to
    /// a script other than Latin.
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
            return UTF16.encode(scalar)!.map { unit in  // every scalar can be encoded
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
    }
}
