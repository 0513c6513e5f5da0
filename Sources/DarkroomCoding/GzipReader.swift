internal import CZlib

/// Turns a gzip file (RFC 1952), fed piece by piece, back into its plain bytes; several members in a row are one file.
///
/// Its memory is one buffer, whatever the file's size. One thread at a time may use it.
package final class GzipReader {
    /// Whether a file that begins with `bytes` is a gzip file.
    package static func isGzip(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b
    }

    private enum State { case withinMember, betweenMembers, padding }

    private let stream: UnsafeMutablePointer<z_stream>
    private let output: UnsafeMutableRawBufferPointer
    private var state = State.withinMember

    /// A reader that hands out plain pieces of at most `pieceBytes`.
    package init(pieceBytes: Int = 256 << 10) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        output = .allocate(byteCount: pieceBytes, alignment: 16)
        // 16: gzip framing instead of zlib's (zlib.h, inflateInit2).
        let status = inflateInit2_(stream, MAX_WBITS + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "inflateInit2: \(status)")  // out of memory
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        output.deallocate()
    }

    /// Takes the next compressed bytes and hands each plain piece to `body`, valid during the call.
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

    /// Says that the file ends here; throws when it may not.
    package func finish() throws(CodingError) {
        guard state != .withinMember else {
            throw CodingError(code: .truncated, message: "ends within the gzip data")
        }
    }

    /// Fills the output once; false when the input is used up and nothing came out.
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
        case Z_BUF_ERROR:  // no progress possible: all input is taken and all output handed out
            return false
        case let status:
            let reason = stream.pointee.msg.map { String(cString: $0) } ?? "error \(status)"
            throw CodingError(code: .damaged, message: "is damaged gzip data (\(reason))")
        }
    }

    /// After a member comes another one, or zeros up to the end (tapes and block devices pad so).
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
