internal import CZlib

/// Decompresses a gzip file (RFC 1952) piece by piece. The file may contain several members.
///
/// The reader uses a single buffer, whatever the size of the file. Only one thread at a time may use a reader.
package final class GzipReader {
    /// Whether a file that begins with `bytes` is a gzip file.
    package static func isGzip(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b
    }

    private enum State { case withinMember, betweenMembers, padding }

    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutableRawBufferPointer
    private var state = State.withinMember

    /// Creates a reader that passes on decompressed pieces of at most `pieceBytes` each.
    package init(pieceBytes: Int = 256 << 10) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        output = .allocate(byteCount: pieceBytes, alignment: 16)
        // Adding 16 selects the gzip format instead of the zlib format (zlib.h, inflateInit2).
        let status = inflateInit2_(stream, MAX_WBITS + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "inflateInit2: \(status)")  // out of memory
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        output.deallocate()
    }

    /// Decompresses the next bytes and passes each piece to `body`. A piece is valid only during the call to `body`.
    package func read(
        _ compressed: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: compressed.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = UInt32(compressed.count)
        while try advance() {
            let count = output.count - Int(stream.pointee.avail_out)
            if count > 0 { try body(UnsafeRawBufferPointer(rebasing: output[..<count])) }
        }
    }

    /// Must be called at the end of the file. Throws if the compressed data is incomplete.
    package func finish() throws(CodingError) {
        guard state != .withinMember else {
            throw CodingError(code: .truncated, message: "ends within the gzip data")
        }
    }

    /// Fills the output buffer once. Returns false if no input is left and no output was produced.
    private func advance() throws(CodingError) -> Bool {
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(output.count)
        if state != .withinMember {
            guard stream.pointee.avail_in > 0 else { return false }
            try beginNextMember()
            if state == .padding { return false }
        }
        switch inflate(stream, Z_NO_FLUSH) {
        case Z_STREAM_END:
            state = .betweenMembers
            return true
        case Z_OK:
            return true
        case Z_BUF_ERROR:  // no progress is possible: all input was read and all output was passed on
            return false
        case let status:
            let reason = stream.pointee.msg.map { String(cString: $0) } ?? "error \(status)"
            throw CodingError(code: .damaged, message: "is damaged gzip data (\(reason))")
        }
    }

    /// Begins the next member, if there is one. Skips zeros after the last member: tapes contain such padding.
    private func beginNextMember() throws(CodingError) {
        while stream.pointee.avail_in > 0, stream.pointee.next_in.pointee == 0 {
            state = .padding
            stream.pointee.next_in += 1
            stream.pointee.avail_in -= 1
        }
        guard stream.pointee.avail_in > 0 else { return }
        guard state == .betweenMembers, stream.pointee.next_in.pointee == 0x1f else {
            throw CodingError(code: .damaged, message: "has other data after the gzip data")
        }
        inflateReset(stream)
        state = .withinMember
    }
}
