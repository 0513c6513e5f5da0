/// Converts bytes to lower-case hexadecimal text.
package enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// The bytes as text, with two digits for each byte.
    package static func text(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { output in
            for (offset, byte) in bytes.enumerated() {
                output[offset * 2] = digits[Int(byte >> 4)]
                output[offset * 2 + 1] = digits[Int(byte & 15)]
            }
            return bytes.count * 2
        }
    }
}
