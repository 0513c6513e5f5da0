/// A coding of `Content-Encoding` that this program can decode (RFC 9110, 8.4.1; RFC 7932; RFC 8878).
package enum ContentCoding: String, Sendable {
    case gzip, deflate
    case brotli = "br"
    case zstd

    /// The codings that were applied to a body, in the order in which they were applied. As in browsers, unknown
    /// values, such as `identity` or the wrong `utf-8`, are left out.
    /// - Parameter values: the values of all `Content-Encoding` lines.
    package static func codings(in values: [String]) -> [ContentCoding] {
        values.flatMap { $0.split(separator: ",") }.compactMap { name in
            let name = name.filter { $0 != " " && $0 != "\t" }.lowercased()
            return ContentCoding(rawValue: name.hasPrefix("x-") ? String(name.dropFirst(2)) : name)
        }
    }

    /// Whether bytes that begin with `head` may have this coding. Many servers send a picture without a coding, but
    /// name a coding in the header.
    /// - Parameter head: the first four bytes, or all bytes if there are fewer.
    func mayBegin(with head: [UInt8]) -> Bool {
        switch self {
        case .gzip: head.starts(with: [0x1f, 0x8b])
        case .deflate, .brotli: !Self.isPicture(head)  // they have no magic number
        case .zstd:
            head == [0x28, 0xb5, 0x2f, 0xfd]
                || head.count == 4 && head[0] & 0xf0 == 0x50 && head.dropFirst() == [0x2a, 0x4d, 0x18]
        }
    }

    /// Whether bytes that begin with `head` are a JPEG, PNG, GIF, WebP, TIFF, JPEG XL, AVIF, HEIC or JPEG 2000.
    private static func isPicture(_ head: [UInt8]) -> Bool {
        let beginnings: [[UInt8]] = [
            [0xff, 0xd8, 0xff], [0x89, 0x50, 0x4e, 0x47], [0x47, 0x49, 0x46, 0x38], [0x52, 0x49, 0x46, 0x46],
            [0x49, 0x49, 0x2a, 0], [0x4d, 0x4d, 0, 0x2a], [0xff, 0x0a], [0, 0, 0],
        ]
        return beginnings.contains { head.starts(with: $0) }
    }

    /// The maximum number of bytes that a decoder allocates: for its window, and for the largest tables that hostile
    /// data can require.
    var mostMemory: Int {
        switch self {
        case .gzip, .deflate: 64 << 10
        case .brotli: 20 << 20
        case .zstd: 9 << 20
        }
    }

    func makeDecoder() throws(CodingError) -> any StreamDecoder {
        switch self {
        case .gzip: try ZlibDecoder(isGzip: true)
        case .deflate: try ZlibDecoder(isGzip: false)
        case .brotli: try BrotliDecoder()
        case .zstd: try ZstdDecoder()
        }
    }
}
