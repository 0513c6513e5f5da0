import DarkroomCoding
import Foundation
import Testing

@Suite struct GzipReaderTests {
    /// The output of `printf 'hello\n' | gzip -n`.
    static let hello: [UInt8] = [
        0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0xe7, 0x02, 0x00, 0x20, 0x30, 0x3a,
        0x36, 0x06, 0, 0, 0,
    ]

    func read(_ bytes: [UInt8], step: Int, pieceBytes: Int = 256 << 10) throws -> String {
        let reader = GzipReader(pieceBytes: pieceBytes)
        var plain: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            try Array(bytes[start..<min(start + step, bytes.count)]).withUnsafeBytes { chunk in
                try reader.read(chunk) { plain += $0 }
            }
        }
        try reader.finish()
        return String(decoding: plain, as: UTF8.self)
    }

    @Test(arguments: [1, 2, 7, 1000], [1, 3, 1000]) func readsMembersInPiecesOfAnySize(step: Int, pieceBytes: Int)
        throws
    {
        #expect(try read(Self.hello, step: step, pieceBytes: pieceBytes) == "hello\n")
        #expect(
            try read(Self.hello + Self.hello + Self.hello, step: step, pieceBytes: pieceBytes)
                == "hello\nhello\nhello\n")
        #expect(try read(Self.hello + [0, 0, 0], step: step, pieceBytes: pieceBytes) == "hello\n")
    }

    @Test(arguments: [1, 1000]) func findsTruncation(step: Int) {
        for count in 0..<Self.hello.count {
            #expect { try read(Array(Self.hello.prefix(count)), step: step) } throws: {
                ($0 as? CodingError)?.code == .truncated
            }
        }
        #expect { try read(Self.hello + Self.hello.prefix(12), step: step) } throws: {
            ($0 as? CodingError)?.code == .truncated
        }
    }

    @Test(arguments: [1, 1000]) func findsDamage(step: Int) {
        var damaged = Self.hello
        damaged[damaged.count - 7] ^= 1  // the checksum
        for bytes in [damaged, Self.hello + [1, 2, 3], Self.hello + [0, 0x1f, 0x8b]] {
            #expect { try read(bytes, step: step) } throws: { ($0 as? CodingError)?.code == .damaged }
        }
    }

    @Test func detectsGzipByItsFirstBytes() {
        #expect(Self.hello.withUnsafeBytes { GzipReader.isGzip($0) })
        #expect(!Array("http://".utf8).withUnsafeBytes { GzipReader.isGzip($0) })
        #expect(![UInt8]([0x1f]).withUnsafeBytes { GzipReader.isGzip($0) })
    }
}
