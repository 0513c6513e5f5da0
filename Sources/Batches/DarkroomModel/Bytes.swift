import Foundation

// Parsers in other modules call these functions for each byte or field, so they must be inlinable.

/// Names for the bytes that occur in lists.
@usableFromInline package enum Byte {
    @inlinable package static var tab: UInt8 { UInt8(ascii: "\t") }
    @inlinable package static var lineFeed: UInt8 { UInt8(ascii: "\n") }
    @inlinable package static var carriageReturn: UInt8 { UInt8(ascii: "\r") }
    @inlinable package static var space: UInt8 { UInt8(ascii: " ") }
    @inlinable package static var quote: UInt8 { UInt8(ascii: "\"") }
    @inlinable package static var hash: UInt8 { UInt8(ascii: "#") }
    @inlinable package static var percent: UInt8 { UInt8(ascii: "%") }
    @inlinable package static var slash: UInt8 { UInt8(ascii: "/") }
    @inlinable package static var colon: UInt8 { UInt8(ascii: ":") }
    @inlinable package static var bar: UInt8 { UInt8(ascii: "|") }
    @inlinable package static var backslash: UInt8 { UInt8(ascii: "\\") }

    @inlinable package static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    @inlinable package static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z")
    }

    @inlinable package static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    @inlinable package static func isAlphanumeric(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }

    /// True for letters, digits, `+`, `-` and `.`, which occur in URL schemes (RFC 3986, 3.1), JSON numbers and JSON
    /// literals.
    @inlinable package static func isOfWord(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || "+-.".utf8.contains(byte) }

    /// The value of a hexadecimal digit; nil for any other byte.
    package static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// A part of this buffer, as a buffer whose offsets begin at 0.
    @inlinable package func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[range])
    }

    /// The offset of the first `byte` at or after `start`. Uses `memchr`, which compares 32 bytes at a time.
    @inlinable package func offset(of byte: UInt8, from start: Int = 0) -> Int? {
        guard start < count, let base = baseAddress else { return nil }
        guard let found = memchr(base + start, Int32(byte), count - start) else { return nil }
        return UnsafeRawPointer(found) - base
    }

    /// The bytes without leading and trailing spaces and tabs.
    @inlinable package var trimmed: UnsafeRawBufferPointer { trimmed(of: Byte.isBlank) }

    /// The bytes without leading and trailing bytes for which `isBlank` is true.
    @inlinable @inline(__always) package func trimmed(of isBlank: (UInt8) -> Bool) -> UnsafeRawBufferPointer {
        var start = 0, end = count
        while start < end, isBlank(self[start]) { start += 1 }
        while end > start, isBlank(self[end - 1]) { end -= 1 }
        return part(start..<end)
    }

    /// Whether these bytes are a comment: the first byte that is not blank is `#`.
    @inlinable package var isComment: Bool { first { !Byte.isBlank($0) } == Byte.hash }

    /// Whether these bytes begin with `text`.
    @inlinable package func begins(with text: StaticString) -> Bool {
        count >= text.utf8CodeUnitCount && text.utf8CodeUnitCount > 0
            && memcmp(baseAddress!, text.utf8Start, text.utf8CodeUnitCount) == 0  // not nil, because count > 0
    }

    /// These bytes as text for a message: at most `maxBytes` bytes, with control characters escaped.
    package func excerpt(maxBytes: Int = 200) -> String {
        var text = ""
        for scalar in String(decoding: prefix(maxBytes), as: UTF8.self).unicodeScalars {
            text += scalar.value < 32 || scalar.value == 127 ? scalar.escaped(asASCII: true) : String(scalar)
        }
        return count > maxBytes ? text + "..." : text
    }
}
