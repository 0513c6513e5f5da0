import DarkroomCoding
import Testing

@Suite struct DeflateTests {
    static let entries: [[UInt8]] = [
        [], [0], Array("photo.jpg\thttp://example.org/photo.jpg\n".utf8),
        (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) },
        [UInt8](repeating: 7, count: 1 << 20),
    ]

    @Test(arguments: entries.indices) func decompressesCompressedBytes(number: Int) throws {
        let entry = Self.entries[number]
        let compressed = Deflate.compress(entry, level: 1)
        #expect(try Deflate.decompress(compressed, maxBytes: entry.count) == entry)
        // Decompresses a slice that does not start at index 0, like the bytes after the version byte of an entry.
        #expect(try Deflate.decompress(([9] + compressed).dropFirst(), maxBytes: entry.count) == entry)
    }

    @Test func keepsItsStateBetweenBlocks() throws {
        let deflater = Deflater(), inflater = Inflater()
        for entry in Self.entries + Self.entries {
            let compressed = deflater.compress(entry)
            #expect(compressed == Deflate.compress(entry))
            #expect(try inflater.decompress(compressed, maxBytes: 1 << 20) == entry)
        }
    }

    @Test func continuesAfterADamagedBlock() throws {
        let inflater = Inflater()
        #expect(throws: CodingError.self) { try inflater.decompress([1, 2, 3], maxBytes: 100) }
        #expect(try inflater.decompress(Deflate.compress([1, 2, 3]), maxBytes: 100) == [1, 2, 3])
    }

    @Test func rejectsOutputAboveTheLimit() throws {
        let bomb = Deflate.compress([UInt8](repeating: 0, count: 1 << 20), level: 9)
        #expect { try Deflate.decompress(bomb, maxBytes: (1 << 20) - 1) } throws: {
            ($0 as? CodingError)?.code == .tooLarge
        }
    }

    @Test func reportsTruncationAndDamage() {
        let good = Deflate.compress(Array("http://example.org/".utf8))
        var damaged = good
        damaged[good.count - 1] ^= 1  // the checksum
        let cases: [([UInt8], CodingError.Code)] = [
            ([], .truncated), (Array(good.dropLast()), .truncated), (damaged, .damaged), (good + [0], .damaged),
            (Array("http://".utf8), .damaged),
        ]
        for (bytes, code) in cases {
            #expect { try Deflate.decompress(bytes, maxBytes: 1000) } throws: { ($0 as? CodingError)?.code == code }
        }
    }
}
