import CZlib
import Testing

/// Writes PNGs, and reads PNGs that libvips has written. Does not use libvips.
enum PNG {
    /// - Parameter late: the chunks after the pixels.
    static func file(
        _ pixels: Pixels, chunks: [(type: String, bytes: [UInt8])] = [], late: [(type: String, bytes: [UInt8])] = []
    ) -> [UInt8] {
        let head =
            signature + header(width: pixels.width, height: pixels.height, bands: pixels.bands, bits: pixels.bits)
        return head + chunks.flatMap { chunk($0.type, $0.bytes) } + data(pixels)
            + late.flatMap { chunk($0.type, $0.bytes) } + chunk("IEND", [])
    }

    /// A file with a palette. `pixels` must be RGB with 8 bits and at most 256 colours.
    static func palette(_ pixels: Pixels, chunks: [(type: String, bytes: [UInt8])] = []) -> [UInt8] {
        var places: [[Int]: Int] = [:]
        var colours: [UInt8] = []
        let indexes = Pixels(width: pixels.width, height: pixels.height, bands: 1) { x, y, _ in
            let colour = pixels[x, y]
            if let place = places[colour] { return place }
            colours += colour.map(UInt8.init)
            places[colour] = places.count
            return places.count - 1
        }
        let start = signature + chunk("IHDR", bigEndian(pixels.width) + bigEndian(pixels.height) + [8, 3, 0, 0, 0])
        return start + chunks.flatMap { chunk($0.type, $0.bytes) } + chunk("PLTE", colours) + data(indexes)
            + chunk("IEND", [])
    }

    /// The chunk of a colour profile.
    static func profile(_ profile: [UInt8]) -> (type: String, bytes: [UInt8]) {
        ("iCCP", Array("profile\0\0".utf8) + compressed(profile))
    }

    static func compressed(_ bytes: [UInt8]) -> [UInt8] {
        var packed = [UInt8](repeating: 0, count: Int(compressBound(UInt(bytes.count))))
        var size = UInt(packed.count)
        precondition(compress(&packed, &size, bytes, UInt(bytes.count)) == Z_OK)
        return Array(packed.prefix(Int(size)))
    }

    /// The texts of a file, as `KEYWORD=TEXT`. Some versions of libvips compress them.
    static func texts(of file: [UInt8]) throws -> [String] {
        try FileParts.chunks(file).filter { ["tEXt", "zTXt"].contains($0.name) }.map { chunk in
            let parts = chunk.bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
            guard chunk.name == "zTXt" else { return String(decoding: parts[0] + [0x3D] + parts[1], as: UTF8.self) }
            let packed = Array(parts[1].dropFirst())
            var text = [UInt8](repeating: 0, count: 1000)
            var count = UInt(text.count)
            try #require(uncompress(&text, &count, packed, UInt(packed.count)) == Z_OK)
            return String(decoding: parts[0] + [0x3D] + text.prefix(Int(count)), as: UTF8.self)
        }
    }

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private static func data(_ pixels: Pixels) -> [UInt8] {
        var rows: [UInt8] = []
        for y in 0..<pixels.height {
            rows.append(0)
            let row = pixels.values[y * pixels.width * pixels.bands..<(y + 1) * pixels.width * pixels.bands]
            for value in row {
                if pixels.bits == 16 { rows.append(UInt8(value >> 8)) }
                rows.append(UInt8(value & 255))
            }
        }
        return chunk("IDAT", compressed(rows))
    }

    static func header(width: Int, height: Int, bands: Int, bits: Int) -> [UInt8] {
        let colour: [UInt8] = [0, 4, 2, 6]
        return chunk("IHDR", bigEndian(width) + bigEndian(height) + [UInt8(bits), colour[bands - 1], 0, 0, 0])
    }

    private static func chunk(_ type: String, _ bytes: [UInt8]) -> [UInt8] {
        let named = Array(type.utf8) + bytes
        return bigEndian(bytes.count) + named + bigEndian(Int(crc32(0, named, UInt32(named.count))))
    }

    static func bigEndian(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) }
    }

    struct Malformed: Error {}

    /// Reads grey and RGB PNGs with or without alpha, with 8 or 16 bits per band, not interlaced.
    static func pixels(of file: some Collection<UInt8>) throws -> Pixels {
        let file = Array(file)
        var packed: [UInt8] = []
        var header: [UInt8] = []
        var offset = 8
        while offset + 12 <= file.count {
            let count = file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            let type = String(decoding: file[offset + 4..<offset + 8], as: UTF8.self)
            let bytes = file[offset + 8..<offset + 8 + count]
            if type == "IHDR" { header = Array(bytes) }
            if type == "IDAT" { packed += bytes }
            offset += 12 + count
        }
        guard header.count == 13, header[12] == 0, let bands = [0: 1, 4: 2, 2: 3, 6: 4][header[9]] else {
            throw Malformed()
        }
        let width = header[0..<4].reduce(0) { $0 << 8 | Int($1) }
        let height = header[4..<8].reduce(0) { $0 << 8 | Int($1) }
        let bits = Int(header[8])
        let step = bands * bits / 8
        var rows = [UInt8](repeating: 0, count: height * (width * step + 1))
        var size = UInt(rows.count)
        guard uncompress(&rows, &size, packed, UInt(packed.count)) == Z_OK, size == rows.count else {
            throw Malformed()
        }
        let bytes = unfilter(rows, height: height, rowBytes: width * step, step: step)
        let values =
            bits == 8
            ? bytes.map(UInt16.init)
            : stride(from: 0, to: bytes.count, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
        return Pixels(width: width, height: height, bands: bands, bits: bits, values: values)
    }

    private static func unfilter(_ rows: [UInt8], height: Int, rowBytes: Int, step: Int) -> [UInt8] {
        var plain = [UInt8](repeating: 0, count: height * rowBytes)
        for y in 0..<height {
            let filter = rows[y * (rowBytes + 1)]
            for i in 0..<rowBytes {
                let left = i >= step ? Int(plain[y * rowBytes + i - step]) : 0
                let above = y > 0 ? Int(plain[(y - 1) * rowBytes + i]) : 0
                let corner = i >= step && y > 0 ? Int(plain[(y - 1) * rowBytes + i - step]) : 0
                let guess: Int
                switch filter {
                case 1: guess = left
                case 2: guess = above
                case 3: guess = (left + above) / 2
                case 4: guess = paeth(left, above, corner)
                default: guess = 0
                }
                plain[y * rowBytes + i] = rows[y * (rowBytes + 1) + 1 + i] &+ UInt8(guess)
            }
        }
        return plain
    }

    private static func paeth(_ left: Int, _ above: Int, _ corner: Int) -> Int {
        let estimate = left + above - corner
        let (a, b, c) = (abs(estimate - left), abs(estimate - above), abs(estimate - corner))
        return a <= b && a <= c ? left : b <= c ? above : corner
    }
}
