internal import CZlib

/// Compressed bodies of HTTP responses.
package enum Compressed {
    package static func gzip(_ bytes: [UInt8]) -> [UInt8] { deflated(bytes, windowBits: 31) }
    package static func zlib(_ bytes: [UInt8]) -> [UInt8] { deflated(bytes, windowBits: 15) }
    package static func rawDeflate(_ bytes: [UInt8]) -> [UInt8] { deflated(bytes, windowBits: -15) }

    /// `hello\n` with brotli, quality 11.
    package static let brotliHello: [UInt8] = [0x8b, 0x02, 0x80, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x0a, 0x03]
    /// `hello\n` with zstd, level 19.
    package static let zstdHello: [UInt8] = [
        0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x68, 0x31, 0, 0, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x0a, 0x53, 0x88, 0xbd, 0x91,
    ]
    /// 64 MiB of zeros with brotli, quality 11, in 53 bytes.
    package static let brotliZeros: [UInt8] = [
        0xcf, 0xff, 0xff, 0x7f, 0xf8, 0x27, 0, 0xe2, 0xb1, 0x40, 0x20, 0xf7, 0xfe, 0x9f, 0xff, 0xff, 0xff, 0xf0, 0x4f,
        0, 0xc4, 0x61, 0x01, 0x80, 0xee, 0xfd, 0x3f, 0xff, 0xff, 0xff, 0xe1, 0x9f, 0, 0x88, 0xc3, 0x02, 0, 0xdd, 0xfb,
        0xff, 0xfc, 0xff, 0xff, 0xc7, 0x3f, 0x01, 0x10, 0x87, 0x05, 0, 0xba, 0xf7, 0xff,
    ]

    private static func deflated(_ bytes: [UInt8], windowBits: Int32) -> [UInt8] {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        precondition(
            deflateInit2_(&stream, 9, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK)
        defer { deflateEnd(&stream) }
        var bytes = bytes
        let count = bytes.count
        return bytes.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(count)
            let room = Int(deflateBound(&stream, UInt(count)))
            return [UInt8](unsafeUninitializedCapacity: room) { output, written in
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(room)
                precondition(deflate(&stream, Z_FINISH) == Z_STREAM_END)
                written = room - Int(stream.avail_out)
            }
        }
    }
}
