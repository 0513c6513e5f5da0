/// Compresses and decompresses single blocks in the zlib format (RFC 1950). See `Deflater` and `Inflater` for many
/// blocks.
package enum Deflate {
    /// The compressed form of `bytes`, at a zlib level of 1 (fastest) to 9 (smallest).
    package static func compress(_ bytes: [UInt8], level: Int32 = 1) -> [UInt8] {
        Deflater(level: level).compress(bytes)
    }

    /// The plain form of one whole block, at most `maxBytes` long.
    package static func decompress(_ bytes: ArraySlice<UInt8>, maxBytes: Int) throws(CodingError) -> [UInt8] {
        try Inflater().decompress(bytes, maxBytes: maxBytes)
    }

    package static func decompress(_ bytes: [UInt8], maxBytes: Int) throws(CodingError) -> [UInt8] {
        try Inflater().decompress(bytes, maxBytes: maxBytes)
    }
}
