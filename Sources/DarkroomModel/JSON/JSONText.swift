/// Writing JSON by hand where a line a photo is written: an encoder of Foundation takes longer than a photo's transfer.
public enum JSONText {
    /// Appends `text` as a JSON string (RFC 8259, section 7): quotes, backslashes and control characters escaped.
    public static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(quote)
        for byte in text.utf8 {
            switch byte {
            case quote, backslash: bytes += [backslash, byte]
            case 10: bytes += [backslash, UInt8(ascii: "n")]
            case 13: bytes += [backslash, UInt8(ascii: "r")]
            case 9: bytes += [backslash, UInt8(ascii: "t")]
            case 0..<32: bytes += [backslash, UInt8(ascii: "u"), 48, 48, hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            default: bytes.append(byte)
            }
        }
        bytes.append(quote)
    }

    /// Appends `,"key":` and the string; nothing when it is nil.
    public static func append(_ key: StaticString, _ text: String?, to bytes: inout [UInt8]) {
        guard let text else { return }
        appendKey(key, to: &bytes)
        append(text, to: &bytes)
    }

    /// Appends `,"key":` and the number; nothing when it is nil.
    public static func append(_ key: StaticString, _ number: Int?, to bytes: inout [UInt8]) {
        guard let number else { return }
        appendKey(key, to: &bytes)
        bytes += String(number).utf8
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
    private static let hex = Array("0123456789abcdef".utf8)

    private static func appendKey(_ key: StaticString, to bytes: inout [UInt8]) {
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        bytes.append(quote)
        key.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes += [quote, UInt8(ascii: ":")]
    }
}
