/// A page or a SubIFD of a TIFF with any tags.
struct TIFFPage: Sendable {
    enum Value: Sendable {
        case short([Int])
        case long([Int])
        case float([Float])
        case double([Double])
        case text(String)
        /// Bytes in the order of the file. Their number must be that of whole values of the type.
        case bytes([UInt8], type: Int)
    }

    var tags: [Int: Value]
    /// The tags of further directories, such as that of EXIF, by the tags that lead to them.
    var directories: [Int: [Int: Value]] = [:]
    var samples: [UInt8]
    var subIFDs: [TIFFPage] = []

    /// An uncompressed page with interleaved samples. `samples` are in the byte order of the file.
    init(
        width: Int, height: Int, bands: Int, bits: Int, photometric: Int, format: Int = 1, samples: [UInt8],
        tags: [Int: Value] = [:]
    ) {
        self.tags = [
            256: .long([width]), 257: .long([height]), 258: .short(Array(repeating: bits, count: bands)),
            259: .short([1]), 262: .short([photometric]), 277: .short([bands]), 278: .long([height]),
            339: .short(Array(repeating: format, count: bands)),
        ].merging(tags) { $1 }
        self.samples = samples
    }

    /// A page of one colour, grey or RGB with 8 bits.
    init(width: Int, height: Int, colour: [UInt8], tags: [Int: Value] = [:]) {
        self.init(
            width: width, height: height, bands: colour.count, bits: 8, photometric: colour.count == 1 ? 1 : 2,
            samples: Array(repeating: colour, count: width * height).flatMap { $0 }, tags: tags)
    }

    static func file(_ pages: [TIFFPage], bigEndian: Bool = false, isBigTIFF: Bool = false) -> [UInt8] {
        var writer = Writer(isBigEndian: bigEndian, isBigTIFF: isBigTIFF)
        return writer.file(pages)
    }
}

extension TIFFPage {
    private struct Writer {
        let isBigEndian: Bool
        let isBigTIFF: Bool
        private var bytes: [UInt8] = []

        init(isBigEndian: Bool, isBigTIFF: Bool) {
            self.isBigEndian = isBigEndian
            self.isBigTIFF = isBigTIFF
        }

        private var word: Int { isBigTIFF ? 8 : 4 }

        mutating func file(_ pages: [TIFFPage]) -> [UInt8] {
            bytes = Array((isBigEndian ? "MM" : "II").utf8) + number(isBigTIFF ? 43 : 42, 2)
            if isBigTIFF { bytes += number(8, 2) + number(0, 2) }
            var link = bytes.count
            bytes += number(0, word)
            for page in pages {
                let directory = write(page)
                bytes.replaceSubrange(link..<link + word, with: number(directory.start, word))
                link = directory.link
            }
            return bytes
        }

        /// Returns the offsets of the directory and of its link to the next.
        private mutating func write(_ page: TIFFPage) -> (start: Int, link: Int) {
            var tags = page.tags
            if !page.subIFDs.isEmpty { tags[330] = .long(page.subIFDs.map { write($0).start }) }
            for (tag, directory) in page.directories { tags[tag] = .long([write(directory).start]) }
            tags[273] = .long([bytes.count])
            tags[279] = .long([page.samples.count])
            bytes += page.samples
            return write(tags)
        }

        private mutating func write(_ tags: [Int: Value]) -> (start: Int, link: Int) {
            var entries: [UInt8] = []
            for (tag, value) in tags.sorted(by: { $0.key < $1.key }) {
                var (type, count, data) = encoded(value)
                if data.count > word {
                    let offset = bytes.count
                    bytes += data
                    data = number(offset, word)
                }
                data += [UInt8](repeating: 0, count: word - data.count)
                entries += number(tag, 2) + number(type, 2) + number(count, word) + data
            }
            let start = bytes.count
            bytes += number(tags.count, isBigTIFF ? 8 : 2) + entries
            bytes += number(0, word)
            return (start, bytes.count - word)
        }

        private func encoded(_ value: Value) -> (type: Int, count: Int, data: [UInt8]) {
            switch value {
            case .short(let values): (3, values.count, values.flatMap { number($0, 2) })
            case .long(let values): (4, values.count, values.flatMap { number($0, 4) })
            case .float(let values): (11, values.count, values.flatMap { number(Int($0.bitPattern), 4) })
            case .double(let values): (12, values.count, values.flatMap { number(Int($0.bitPattern), 8) })
            case .bytes(let values, let type): (type, values.count / (type == 4 ? 4 : type == 3 ? 2 : 1), values)
            case .text(let text): (2, text.utf8.count + 1, Array(text.utf8) + [0])
            }
        }

        private func number(_ number: Int, _ count: Int) -> [UInt8] {
            let little = (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
            return isBigEndian ? little.reversed() : little
        }
    }
}
