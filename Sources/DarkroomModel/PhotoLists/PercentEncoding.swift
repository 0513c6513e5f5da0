/// Percent-encoding of single bytes (RFC 3986, section 2.1).
package enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Appends `byte` as a percent sign and two hexadecimal digits.
    package static func append(_ byte: UInt8, to text: inout [UInt8]) {
        text.append(Byte.percent)
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }
}
