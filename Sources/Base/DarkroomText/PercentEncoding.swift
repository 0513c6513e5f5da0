/// Percent-encoding of bytes (RFC 3986, section 2.1).
package enum PercentEncoding {
    private static let percent = UInt8(ascii: "%")
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Appends `byte` as a percent sign and two hexadecimal digits.
    package static func append(_ byte: UInt8, to text: inout [UInt8]) {
        text.append(percent)
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }

    /// The decoded bytes. A percent sign that is not followed by two hexadecimal digits is kept.
    package static func decoded(_ text: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            let next = rest.prefix(2)
            guard byte == percent, next.count == 2, let high = next.first.flatMap(value),
                let low = next.dropFirst().first.flatMap(value)
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(high << 4 | low)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
