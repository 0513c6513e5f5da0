internal import CZlib

/// Decompresses blocks in the zlib format (RFC 1950). Uses the same memory for all blocks.
///
/// Only one thread at a time may use a decompressor.
package final class Inflater {
    private let stream: UnsafeMutablePointer<z_stream>

    package init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = inflateInit_(stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "inflateInit: \(status)")  // out of memory
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Decompresses one complete block. Throws if `bytes` are damaged, end too early, continue after the end of the
    /// block, or decompress to more than `maxBytes`.
    package func decompress(_ bytes: UnsafeRawBufferPointer, maxBytes: Int) throws(CodingError) -> [UInt8] {
        inflateReset(stream)
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(bytes.count)
        var plain: [UInt8] = []
        // URLs compress to about a quarter of their size. If the result does not fit, the loop adds memory.
        var room = min(max(bytes.count * 5, 256), maxBytes + 1)
        while true {
            var status = Z_OK
            plain += [UInt8](unsafeUninitializedCapacity: room) { output, count in
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(room)
                status = inflate(stream, Z_NO_FLUSH)
                count = room - Int(stream.pointee.avail_out)
            }
            guard plain.count <= maxBytes else {
                throw CodingError(code: .tooLarge, message: "holds more than \(maxBytes) bytes")
            }
            switch status {
            case Z_STREAM_END:
                guard stream.pointee.avail_in == 0 else {
                    throw CodingError(
                        code: .damaged, message: "has \(stream.pointee.avail_in) bytes after the compressed data")
                }
                return plain
            case Z_OK where stream.pointee.avail_out == 0:
                room = min(max(plain.count, 256), maxBytes + 1 - plain.count)
            case Z_OK, Z_BUF_ERROR:
                throw CodingError(code: .truncated, message: "ends within the compressed data")
            default:
                let reason = stream.pointee.msg.map { String(cString: $0) } ?? "error \(status)"
                throw CodingError(code: .damaged, message: "is damaged (\(reason))")
            }
        }
    }

    package func decompress(_ bytes: ArraySlice<UInt8>, maxBytes: Int) throws(CodingError) -> [UInt8] {
        let result: Result<[UInt8], CodingError> = bytes.withUnsafeBytes { buffer in
            Result { () throws(CodingError) in try decompress(buffer, maxBytes: maxBytes) }
        }
        return try result.get()
    }

    package func decompress(_ bytes: [UInt8], maxBytes: Int) throws(CodingError) -> [UInt8] {
        try decompress(bytes[...], maxBytes: maxBytes)
    }
}
