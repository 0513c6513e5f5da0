/// The escapes of JSON strings (RFC 8259, section 7).
@usableFromInline enum JSONEscapes {
    /// Replaces the contents of `bytes` with the unescaped form of `raw`. An unpaired surrogate becomes U+FFFD.
    @usableFromInline static func resolve(_ raw: UnsafeRawBufferPointer, into bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        var position = 0
        while position < raw.count {
            let escape = raw.offset(of: Byte.backslash, from: position) ?? raw.count
            bytes.append(contentsOf: raw.part(position..<escape))
            guard escape + 1 < raw.count else { return }
            position = escape + 2
            switch raw[escape + 1] {
            case UInt8(ascii: "n"): bytes.append(Byte.lineFeed)
            case UInt8(ascii: "t"): bytes.append(Byte.tab)
            case UInt8(ascii: "r"): bytes.append(Byte.carriageReturn)
            case UInt8(ascii: "b"): bytes.append(8)
            case UInt8(ascii: "f"): bytes.append(12)
            case UInt8(ascii: "u"): appendScalar(raw, &position, to: &bytes)
            case let byte: bytes.append(byte)  // quote, backslash, slash
            }
        }
    }

    /// Appends the character of the escape whose four digits begin at `position`. If a surrogate pair begins there,
    /// also reads the second escape.
    private static func appendScalar(
        _ raw: UnsafeRawBufferPointer, _ position: inout Int, to bytes: inout [UInt8]
    ) {
        let unit = codeUnit(raw, at: position)
        if unit != nil { position += 4 }
        var scalar = unit.flatMap { UnicodeScalar($0) }
        if let high = unit, (0xd800..<0xdc00).contains(high), position + 1 < raw.count, raw[position] == Byte.backslash,
            raw[position + 1] == UInt8(ascii: "u"), let low = codeUnit(raw, at: position + 2),
            (0xdc00..<0xe000).contains(low)
        {
            scalar = UnicodeScalar(0x10000 + (high - 0xd800) << 10 + (low - 0xdc00))
            position += 6
        }
        bytes.append(contentsOf: String(Character(scalar ?? "\u{fffd}")).utf8)
    }

    private static func codeUnit(_ raw: UnsafeRawBufferPointer, at start: Int) -> UInt32? {
        guard start + 4 <= raw.count else { return nil }
        var unit: UInt32 = 0
        for byte in raw[start..<start + 4] {
            guard let digit = Byte.hexValue(byte) else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }
}
