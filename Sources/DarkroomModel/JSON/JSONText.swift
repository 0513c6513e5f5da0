import DarkroomText

/// Writing JSON by hand where a line a photo is written: an encoder of Foundation takes longer than a photo's transfer.
package enum JSONText {
    /// Appends `text` as a JSON string (RFC 8259, section 7) in which nothing steers a terminal, see `PrintableText`.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        PrintableText.appendQuoted(text, .json, to: &bytes)
    }

    /// Appends `,"key":` and the string; nothing when it is nil.
    package static func append(_ key: StaticString, _ text: String?, to bytes: inout [UInt8]) {
        guard let text else { return }
        appendKey(key, to: &bytes)
        append(text, to: &bytes)
    }

    /// Appends `,"key":` and the number; nothing when it is nil.
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
