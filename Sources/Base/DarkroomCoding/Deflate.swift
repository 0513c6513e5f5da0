/// Compresses and decompresses single blocks in the zlib format (RFC 1950). See `Deflater` and `Inflater` for many
/// blocks.
package enum Deflate {
    /// Compresses `bytes` with a zlib level from 1 (fastest) to 9 (smallest).
    package static func compress(_ bytes: [UInt8], level: Int32 = 1) -> [UInt8] {
        Deflater(level: level).compress(bytes)
    }

    /// Decompresses one complete block. The result may have at most `maxBytes`.
    package static func decompress(_ bytes: ArraySlice<UInt8>, maxBytes: Int) throws(CodingError) -> [UInt8] {
        try Inflater().decompress(bytes, maxBytes: maxBytes)
    }

    package static func decompress(_ bytes: [UInt8], maxBytes: Int) throws(CodingError) -> [UInt8] {
        try Inflater().decompress(bytes, maxBytes: maxBytes)
    }
}
