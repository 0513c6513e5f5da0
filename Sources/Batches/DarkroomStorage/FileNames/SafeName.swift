import DarkroomCoding
import DarkroomModel
import DarkroomText

/// Converts any bytes to a part of a file name. Different names give different results.
///
/// Letters, digits, space, `.`, `-`, `_` and non-ASCII characters (valid UTF-8) are kept. All other bytes, including
/// the percent sign, are percent-encoded. The same applies to a leading dot, which would hide a file; a leading `-`,
/// which programs would read as an option; and characters that control a terminal or the direction of text (C1
/// controls, bidirectional controls, line and paragraph separators). If the result is too long, it is truncated between
/// two characters, and `~` and a hash of the whole name are added. `~` itself is always encoded, so no other name can
/// equal a truncated one.
enum SafeName {
    /// Precedes the hash of a truncated name, and occurs in no other name.
    static let cutMark = UInt8(ascii: "~")
    /// 128 bits of SHA-256 in hexadecimal digits, which makes accidental and deliberate collisions infeasible.
    private static let hashDigits = 32

    /// Returns the safe form of `name`, at most `maxBytes` long. `maxBytes` must be at least 40.
    static func encode(_ name: ArraySlice<UInt8>, maxBytes: Int) -> [UInt8] {
        var safe: [UInt8] = []
        var cut = 0  // the longest prefix of whole characters that leaves room for `~` and the hash
        var position = name.startIndex
        while position < name.endIndex {
            if safe.count <= maxBytes - hashDigits - 1 { cut = safe.count }
            let length = characterLength(name[position...])
            if length > 0, position > name.startIndex || !".-".utf8.contains(name[position]) {
                safe += name[position..<position + length]
                position += length
            } else {
                PercentEncoding.append(name[position], to: &safe)
                position += 1
            }
        }
        guard safe.count > maxBytes else { return safe }
        let hash = Hexadecimal.text(SHA256Digest.hash(of: Array(name))).utf8.prefix(hashDigits)
        return Array(safe[..<cut]) + [cutMark] + hash
    }

    /// Whether a text contains non-ASCII characters that are encoded in file names.
    static func hasControls(_ text: [UInt8]) -> Bool {
        text.indices.contains { text[$0] >= 0xc0 && characterLength(text[$0...]) == 0 }
    }

    /// The length in bytes of the character at the start of `bytes`; 0 if its first byte must be encoded. The text must
    /// be UTF-8 as in RFC 3629: no overlong forms, no surrogates.
    private static func characterLength(_ bytes: ArraySlice<UInt8>) -> Int {
        let first = bytes[bytes.startIndex]
        if first < 0x80 {
            return Byte.isAlphanumeric(first) || " .-_".utf8.contains(first) ? 1 : 0
        }
        let (length, second): (Int, ClosedRange<UInt8>) =
            switch first {
            case 0xc2...0xdf: (2, 0x80...0xbf)
            case 0xe0: (3, 0xa0...0xbf)
            case 0xed: (3, 0x80...0x9f)
            case 0xe1...0xef: (3, 0x80...0xbf)
            case 0xf0: (4, 0x90...0xbf)
            case 0xf1...0xf3: (4, 0x80...0xbf)
            case 0xf4: (4, 0x80...0x8f)
            default: (0, 0...0)
            }
        guard length > 0, bytes.count >= length, second.contains(bytes[bytes.startIndex + 1]) else { return 0 }
        let others = bytes[(bytes.startIndex + 2)..<(bytes.startIndex + length)]
        guard others.allSatisfy({ (0x80...0xbf).contains($0) }) else { return 0 }
        return isControl(bytes[bytes.startIndex..<(bytes.startIndex + length)]) ? 0 : length
    }

    /// Whether a character of two or three bytes controls a terminal or the direction of text.
    private static func isControl(_ character: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(character)
        switch (bytes[0], bytes[1]) {
        case (0xc2, 0x80...0x9f): return true  // C1
        case (0xd8, 0x9c): return true  // U+061C
        case (0xe2, 0x80):  // U+200E, U+200F, U+2028 to U+202E
            return [0x8e, 0x8f].contains(bytes[2]) || (0xa8...0xae).contains(bytes[2])
        case (0xe2, 0x81): return (0xa6...0xa9).contains(bytes[2])  // U+2066...
        case (0xef, 0xbb): return bytes[2] == 0xbf  // U+FEFF
        default: return false
        }
    }
}
