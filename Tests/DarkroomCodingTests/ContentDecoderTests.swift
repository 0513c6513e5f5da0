import DarkroomCoding
import DarkroomTestSupport
import Testing

@Suite struct ContentDecoderTests {
    static let hello = Array("hello\n".utf8)
    static let photo = [0xff, 0xd8, 0xff] + (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }

    /// Decodes `bytes` in parts of `step` bytes. Returns nil if they end too early.
    private func decode(
        _ bytes: [UInt8], _ field: String, step: Int = 4096, maxBytes: Int = 1 << 20
    ) throws -> [UInt8]? {
        let decoder = try ContentDecoder(ContentCoding.codings(in: [field]), maxBytes: maxBytes)
        var plain: [UInt8] = []
        func drain() throws {
            while case let block = try decoder.next(), !block.isEmpty {
                plain += block
                decoder.take()
            }
        }
        for start in stride(from: 0, to: bytes.count, by: step) {
            try bytes[start..<min(start + step, bytes.count)].withUnsafeBytes { part in
                decoder.add(part)
                try drain()
                #expect(decoder.left == 0)
            }
        }
        decoder.end()
        try drain()
        return decoder.isComplete ? plain : nil
    }

    private func code(_ bytes: [UInt8], _ field: String, maxBytes: Int = 1 << 20) -> CodingError.Code? {
        do {
            _ = try decode(bytes, field, maxBytes: maxBytes)
            return nil
        } catch {
            return (error as? CodingError)?.code
        }
    }

    @Test(arguments: [1, 3, 7, 100_000]) func decodesEveryCodingInPartsOfAnySize(step: Int) throws {
        let photo = Self.photo
        #expect(try decode(Compressed.gzip(photo), "gzip", step: step) == photo)
        #expect(try decode(Compressed.gzip(photo), "X-GZIP", step: step) == photo)
        #expect(try decode(Compressed.zlib(photo), "deflate", step: step) == photo)
        #expect(try decode(Compressed.rawDeflate(photo), "deflate", step: step) == photo)
        #expect(try decode(Compressed.brotliHello, "br", step: step) == Self.hello)
        #expect(try decode(Compressed.zstdHello, "zstd", step: step) == Self.hello)
        #expect(try decode(Compressed.gzip(Compressed.zlib(photo)), "deflate, gzip", step: step) == photo)
        #expect(try decode(Compressed.gzip(Compressed.brotliHello), "br,gzip", step: step) == Self.hello)
        let five = (0..<5).reduce(photo) { bytes, _ in Compressed.gzip(bytes) }
        #expect(try decode(five, "gzip, gzip, gzip, gzip, gzip", step: step) == photo)
    }

    @Test(arguments: [1, 1000]) func severalMembersAreOneBody(step: Int) throws {
        let member = Compressed.gzip(Self.hello)
        #expect(try decode(member + member, "gzip", step: step) == Self.hello + Self.hello)
        #expect(try decode(member + [0, 0, 0], "gzip", step: step) == Self.hello)
        #expect(try decode(member + [0x1f], "gzip", step: step) == Self.hello)
        #expect(try decode(member + [0x1f, 7, 7], "gzip", step: step) == Self.hello)
        #expect(try decode(Compressed.zlib(Self.hello) + [1, 2], "deflate", step: step) == Self.hello)
        #expect(try decode(Compressed.brotliHello + [1, 2], "br", step: step) == Self.hello)
        let frame = Compressed.zstdHello
        #expect(try decode(frame + frame, "zstd", step: step) == Self.hello + Self.hello)
        #expect(try decode(frame + [1, 2, 3, 4, 5], "zstd", step: step) == Self.hello)
    }

    /// Many servers name a coding that the body does not have.
    @Test(arguments: ["gzip", "deflate", "br", "zstd", "gzip, gzip", "br, gzip"], [1, 4096])
    func pictureWithoutTheCodingStaysAsItIs(field: String, step: Int) throws {
        let beginnings: [[UInt8]] = [
            [0xff, 0xd8, 0xff, 0xe0], [0x89, 0x50, 0x4e, 0x47, 0x0d], Array("GIF89a".utf8), Array("RIFF1234WEBP".utf8),
            [0x49, 0x49, 0x2a, 0, 8], [0, 0, 0, 0x1c, 0x66, 0x74, 0x79, 0x70], [0xff, 0x0a, 0x12, 0x34],
        ]
        for beginning in beginnings { #expect(try decode(beginning, field, step: step) == beginning) }
        #expect(try decode(Self.photo, field, step: step) == Self.photo)
        #expect(try decode([], field, step: step) == [])
    }

    @Test func outerCodingMayBeMissing() throws {
        #expect(try decode(Compressed.gzip(Self.photo), "gzip, gzip") == Self.photo)
        #expect(try decode(Self.hello, "gzip") == Self.hello)
        #expect(try decode([0xff], "gzip") == [0xff])
    }

    @Test func unknownCodingsAreLeftOut() {
        for name in [
            "identity", "none", "utf-8", "binary", "image/jpeg", "compress", "aws-chunked", "", ",", "gzipped",
        ] {
            #expect(ContentCoding.codings(in: [name]).isEmpty)
        }
        #expect(ContentCoding.codings(in: ["aws-chunked, gzip", "identity", "\tBR "]) == [.gzip, .brotli])
    }

    @Test(arguments: [
        (Compressed.gzip(photo), "gzip"), (Compressed.zlib(photo), "deflate"),
        (Compressed.rawDeflate(photo), "deflate"),
        (Compressed.brotliHello, "br"), (Compressed.zstdHello, "zstd"),
    ])
    func earlyEndIsFound(bytes: [UInt8], field: String) throws {
        // With two or three bytes, gzip and zstd are not recognized.
        for count in [4, bytes.count / 2, bytes.count - 1] where count > 3 {
            #expect(try decode(Array(bytes.prefix(count)), field) == nil, "\(count) bytes of \(field)")
        }
    }

    @Test func damageIsFound() {
        var gzip = Compressed.gzip(Self.photo)
        gzip[gzip.count / 2] ^= 0x55
        gzip[gzip.count / 2 + 1] ^= 0xff
        #expect(code(gzip, "gzip") == .damaged)
        var checksum = Compressed.gzip(Self.photo)
        checksum[checksum.count - 8] ^= 1
        #expect(code(checksum, "gzip") == .damaged)
        #expect(code(Array("<html>not brotli at all</html>".utf8), "br") == .damaged)
        #expect(code([0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff] + Self.photo, "zstd") == .damaged)
        #expect(code(Self.hello, "gzip, gzip, gzip, gzip, gzip, gzip") == .damaged)
    }

    /// The inner body of the second bomb decodes to nothing, so only the limit of each coding ends it.
    @Test func bombsEndAtTheLimit() throws {
        let zeros = [UInt8](repeating: 0, count: 8 << 20)
        #expect(code(Compressed.gzip(zeros), "gzip") == .tooLarge)
        let emptyBlocks = (0..<400_000).flatMap { _ in [0, 0, 0, 0xff, 0xff] as [UInt8] }
        #expect(code(Compressed.gzip([0] + emptyBlocks.dropFirst()), "deflate, gzip") == .tooLarge)
        #expect(code(Compressed.brotliZeros, "br") == .tooLarge)
        #expect(try decode(Compressed.brotliZeros, "br", maxBytes: 64 << 20)?.count == 64 << 20)
    }

    @Test func windowIsBounded() throws {
        // A window of 16 MiB.
        let frame: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0, 14 << 3, 0x02, 0, 0x10, 0]
        #expect(code(frame, "zstd", maxBytes: 64 << 20) == .damaged)
    }
}
