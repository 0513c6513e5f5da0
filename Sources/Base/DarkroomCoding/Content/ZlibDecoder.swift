internal import CZlib

/// Decodes `gzip` with any number of members (RFC 1952), and `deflate`. `deflate` is the zlib format (RFC 1950); many
/// servers leave out its header and checksum (RFC 1951).
final class ZlibDecoder: StreamDecoder {
    private let stream: UnsafeMutablePointer<z_stream>
    private let isGzip: Bool
    private var isBegun = false
    private var isEnded = false
    /// Whether the bytes after a complete member may be padding. They begin like a further member, but have not yielded
    /// any output yet.
    private var isDoubtful = false

    init(isGzip: Bool) throws(CodingError) {
        self.isGzip = isGzip
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let bits = isGzip ? MAX_WBITS + 16 : MAX_WBITS
        let status = inflateInit2_(stream, bits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else { throw .noMemory }  // `deinit` runs
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    var isFinished: Bool { isEnded || isDoubtful }

    func decode(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(CodingError) -> (read: Int, written: Int) {
        if isEnded {
            // Another member begins with 0x1f. Everything else is padding.
            guard isGzip, input.first == 0x1f, inflateReset(stream) == Z_OK else { return (input.count, 0) }
            isEnded = false
            isDoubtful = true
        }
        if !isBegun, let first = input.first {
            isBegun = true
            // The first byte of the zlib format has the method 8 and a window of at most 32 KiB.
            if !isGzip, first & 0x0f != 8 || first >> 4 > 7 { inflateReset2(stream, -MAX_WBITS) }
        }
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(input.count)
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(output.count)
        let status = inflate(stream, Z_NO_FLUSH)
        let (read, written) = (input.count - Int(stream.pointee.avail_in), output.count - Int(stream.pointee.avail_out))
        if written > 0 { isDoubtful = false }
        switch status {
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END:
            isEnded = true
            isDoubtful = false
        case Z_MEM_ERROR: throw .noMemory
        case _ where isDoubtful:
            isEnded = true
            isDoubtful = false
            return (input.count, 0)
        default:
            let reason = stream.pointee.msg.map { String(cString: $0) } ?? "error \(status)"
            throw CodingError(code: .damaged, message: "is damaged (\(reason))")
        }
        return (read, written)
    }
}
