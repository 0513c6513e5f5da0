internal import CZlib

/// Compresses one block of bytes after another into the zlib format (RFC 1950), keeping its memory between them.
///
/// A feeder compresses 10,000 entries of 5 KB a second: setting the compressor up anew for each costs more than compressing it.
/// One thread at a time may use it.
package final class Deflater {
    // On the heap, since zlib keeps a pointer back to its stream.
    private let stream: UnsafeMutablePointer<z_stream>

    /// A compressor of a zlib level, 1 (fastest) to 9 (smallest).
    ///
    /// Level 1 is nearly as good as 6 on names and URLs.
    package init(level: Int32 = 1) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = deflateInit_(stream, level, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        // It fails when memory is out, or for a level that is none.
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
            // zlib does not write through next_in, its type only lacks the const.
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
            stream.pointee.avail_in = UInt32(bytes.count)
            stream.pointee.next_out = output.baseAddress
            stream.pointee.avail_out = UInt32(bound)
            let status = deflate(stream, Z_FINISH)
            // An output of deflateBound bytes always holds the whole.
            precondition(status == Z_STREAM_END, "deflate: \(status)")
            count = bound - Int(stream.pointee.avail_out)
        }
    }

    /// The compressed form of `bytes`.
    package func compress(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { compress($0) } }
}
