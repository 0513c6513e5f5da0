import DarkroomRecipes

@testable import DarkroomImaging

/// The frames and times of an animation, read from the file without libvips.
struct Animation: Equatable {
    /// In milliseconds.
    var delays: [Int] = []
    /// As stored in the file: the repetitions of GIF, the rounds of WebP; nil if the file has no number.
    var loops: Int?

    /// Reads a GIF (GIF89a, sections 23 and 26) or WebP (RFC 9649, section 2.7.1.1).
    init(_ file: [UInt8]) {
        if file.starts(with: Array("GIF".utf8)) { readGIF(file) } else { readWebP(file) }
    }

    init(delays: [Int], loops: Int?) {
        self.delays = delays
        self.loops = loops
    }

    private mutating func readGIF(_ file: [UInt8]) {
        var offset = 13 + (file[10] & 0x80 == 0 ? 0 : 3 << (Int(file[10] & 7) + 1))
        func skipBlocks() {
            while offset < file.count, file[offset] != 0 { offset += 1 + Int(file[offset]) }
            offset += 1
        }
        while offset + 10 < file.count {
            if file[offset] == 0x21 {
                if file[offset + 1] == 0xF9 { delays.append(10 * (Int(file[offset + 4]) | Int(file[offset + 5]) << 8)) }
                if file[offset + 1] == 0xFF, file[offset + 3] == 0x4E {  // NETSCAPE2.0
                    loops = Int(file[offset + 16]) | Int(file[offset + 17]) << 8
                }
                offset += 2
            } else {
                guard file[offset] == 0x2C else { return }
                let flags = file[offset + 9]
                offset += 11 + (flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1))
            }
            skipBlocks()
        }
    }

    private mutating func readWebP(_ file: [UInt8]) {
        func little(_ start: Int, _ count: Int) -> Int {
            file[start..<start + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        var offset = 12
        while offset + 8 <= file.count {
            let (type, count) = (String(decoding: file[offset..<offset + 4], as: UTF8.self), little(offset + 4, 4))
            if type == "ANIM" { loops = little(offset + 12, 2) }
            if type == "ANMF" { delays.append(little(offset + 20, 3)) }
            offset += 8 + count + count % 2
        }
    }
}

/// Writes animated GIFs.
enum GIF {
    /// - Parameter frames: For each frame, the index of a colour by position.
    static func file(
        width: Int, height: Int, palette: [[Int]], delays: [Int], loops: Int,
        frames: [(_ x: Int, _ y: Int) -> Int]
    ) -> [UInt8] {
        func little(_ number: Int) -> [UInt8] { [UInt8(number & 255), UInt8(number >> 8)] }
        let colours = (0..<128).flatMap { $0 < palette.count ? palette[$0].map { UInt8($0) } : [0, 0, 0] }
        // Seven flag bits: a palette of 128 colours.
        var file = Array("GIF89a".utf8) + little(width) + little(height) + [0xF6, 0, 0] + colours
        file += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1] + little(loops) + [0]
        for (frame, delay) in zip(frames, delays) {
            file += [0x21, 0xF9, 4, 0] + little(delay / 10) + [0, 0]
            file += [0x2C, 0, 0, 0, 0] + little(width) + little(height) + [0, 7]
            // Without compression: codes of 8 bits, and the dictionary is cleared before it needs 9 bits.
            var codes: [UInt8] = []
            for y in 0..<height {
                for x in 0..<width {
                    if codes.count % 121 == 0 { codes.append(128) }
                    codes.append(UInt8(frame(x, y)))
                }
            }
            codes.append(129)
            for start in stride(from: 0, to: codes.count, by: 255) {
                let block = codes[start..<min(start + 255, codes.count)]
                file += [UInt8(block.count)] + block
            }
            file.append(0)
        }
        return file + [0x3B]
    }
}

/// The pixels of all frames.
func frames(of bytes: [UInt8]) throws -> [Pixels] {
    var options = DevelopOptions(outputs: [ImageOutput()])
    options.keepsAnimation = true
    var encoding = PhotoEncoding()
    encoding.format = .fixed(.png)
    let files = try bytes.withBytes { bytes throws(ImagingError) -> [[UInt8]] in
        try Imaging.withDecoder(bytes, options, isCancelled: { false }) {
            decoder throws(ImagingError) -> [[UInt8]] in
            let photo = try decoder.open()
            try decoder.decode(photo, inMemory: true)
            var files: [[UInt8]] = []
            for index in 0..<Int(photo.facts.frames) {
                files.append(try Encoder(settings: encoding, source: .png).encode(photo.frame(index)).bytes)
            }
            return files
        }
    }
    return try files.map { try PNG.pixels(of: $0) }
}
