internal import CZlib

/// Compresses blocks of bytes into the zlib format (RFC 1950) and reuses its memory between blocks.
///
/// A feeder compresses 10,000 entries of 5 KB per second. Initializing a compressor costs more than compressing an
/// entry. Only one thread at a time may use it.
package final class Deflater {
    // On the heap, because zlib keeps a pointer to its stream.
    private let stream: UnsafeMutablePointer<z_stream>

    /// Creates a compressor with a zlib level, 1 (fastest) to 9 (smallest).
    ///
    /// For names and URLs, level 1 compresses nearly as well as level 6.
    package init(level: Int32 = 1) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = deflateInit_(stream, level, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        // Fails only if memory is exhausted or the level is invalid.
        precondition(status == Z_OK, "deflateInit: \(status) with level \(level)")
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// The compressed form of `bytes`.
    package func compress(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        deflateReset(stream)
        let bound = Int(deflateBound(stream, UInt(bytes.count)))
        return [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            // zlib does not write through next_in; its type only lacks const.
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
            stream.pointee.avail_in = UInt32(bytes.count)
            stream.pointee.next_out = output.baseAddress
            stream.pointee.avail_out = UInt32(bound)
            let status = deflate(stream, Z_FINISH)
            // An output of deflateBound bytes always holds the whole result.
            precondition(status == Z_STREAM_END, "deflate: \(status)")
            count = bound - Int(stream.pointee.avail_out)
        }
    }

    package func compress(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { compress($0) } }
}
