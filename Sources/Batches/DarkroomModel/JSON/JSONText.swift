import DarkroomText

/// Writes JSON without Foundation, because a line is written for every photo: a Foundation encoder would take longer
/// than the transfer of the photo.
package enum JSONText {
    /// Appends `text` as a JSON string (RFC 8259, section 7). Escapes control characters, see `PrintableText`.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        PrintableText.appendQuoted(text, .json, to: &bytes)
    }

    /// Appends `,"key":` and the string. Appends nothing if the string is nil.
    package static func append(_ key: StaticString, _ text: String?, to bytes: inout [UInt8]) {
        guard let text else { return }
        appendKey(key, to: &bytes)
        append(text, to: &bytes)
    }

    /// Appends `,"key":` and the number. Appends nothing if the number is nil.
    package static func append(_ key: StaticString, _ number: Int?, to bytes: inout [UInt8]) {
        guard let number else { return }
        appendKey(key, to: &bytes)
        bytes += String(number).utf8
    }

    private static let quote = UInt8(ascii: "\"")

    private static func appendKey(_ key: StaticString, to bytes: inout [UInt8]) {
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        bytes.append(quote)
        key.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes += [quote, UInt8(ascii: ":")]
    }
}
