/// Bytes as lower-case hexadecimal text.
package enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Two digits for each of `bytes`.
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
