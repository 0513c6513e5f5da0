internal import CZlib

/// Compresses blocks of bytes to the zlib format (RFC 1950). Uses the same memory for all blocks.
///
/// A feeder compresses 10,000 entries of 5 KB per second, and initializing a compressor costs more than compressing an
/// entry. Only one thread at a time may use a compressor.
package final class Deflater {
    // The stream is on the heap, because zlib keeps a pointer to it.
    private let stream: UnsafeMutablePointer<z_stream>

    /// Creates a compressor with a zlib level from 1 (fastest) to 9 (smallest).
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

    /// Compresses `bytes`.
    package func compress(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        deflateReset(stream)
        let bound = Int(deflateBound(stream, UInt(bytes.count)))
        return [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            // zlib does not write through `next_in`, although its type is not `const`.
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
            stream.pointee.avail_in = UInt32(bytes.count)
            stream.pointee.next_out = output.baseAddress
            stream.pointee.avail_out = UInt32(bound)
            let status = deflate(stream, Z_FINISH)
            // A buffer of deflateBound bytes is always large enough for the result.
            precondition(status == Z_STREAM_END, "deflate: \(status)")
            count = bound - Int(stream.pointee.avail_out)
        }
    }

    package func compress(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { compress($0) } }
}
