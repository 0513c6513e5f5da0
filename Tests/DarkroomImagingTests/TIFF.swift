/// Writes TIFFs with kinds of pixels that no other format has.
enum TIFF {
    /// Values of the tag PhotometricInterpretation (262).
    enum Photometric: Int {
        case grey = 1
        case rgb = 2
        case cmyk = 5
        case lab = 8
    }

    static func file(
        _ pixels: Pixels, _ photometric: Photometric, orientation: Int = 1, profile: [UInt8] = [],
        headerWidth: Int? = nil, headerHeight: Int? = nil
    ) -> [UInt8] {
        let samples = pixels.values.flatMap { value in
            pixels.bits == 16 ? [UInt8(value & 255), UInt8(value >> 8)] : [UInt8(value)]
        }
        return file(
            samples: samples, width: headerWidth ?? pixels.width, height: headerHeight ?? pixels.height,
            bands: pixels.bands, bits: pixels.bits, photometric, orientation: orientation, profile: profile)
    }

    /// A picture of 32-bit floating-point samples.
    static func file(floats: [Float], width: Int, height: Int, bands: Int, _ photometric: Photometric) -> [UInt8] {
        let samples = floats.flatMap { value in withUnsafeBytes(of: value.bitPattern.littleEndian) { Array($0) } }
        return file(
            samples: samples, width: width, height: height, bands: bands, bits: 32, photometric, sampleFormat: 3)
    }

    /// A file of `count` equal pages of one pixel.
    static func pages(_ count: Int) -> [UInt8] {
        let page = file(Pixels(width: 1, height: 1, bands: 1, values: [7]), .grey)
        let start = page[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
        let directory = page[start..<page.count - 4]
        let size = directory.count + 4
        var bytes = Array(page[..<start])
        for number in 1...count {
            bytes += directory
            bytes += little(number < count ? start + number * size : 0, 4)
        }
        return bytes
    }

    /// The file with its directory in front of the samples.
    static func withDirectoryFirst(_ file: [UInt8]) -> [UInt8] {
        let start = file[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
        let directory = Array(file[start...])
        var moved = directory
        for entry in stride(from: 2, to: directory.count - 4, by: 12) {
            func number(_ at: Int, _ count: Int) -> Int {
                directory[entry + at..<entry + at + count].reversed().reduce(0) { $0 << 8 | Int($1) }
            }
            let size = [1: 1, 2: 1, 3: 2, 4: 4, 7: 1][number(2, 2)]! * number(4, 4)
            let isOffset = size > 4 || number(0, 2) == 273
            if isOffset {
                moved.replaceSubrange(entry + 8..<entry + 12, with: little(number(8, 4) + directory.count, 4))
            }
        }
        return Array(file[..<4]) + little(8, 4) + Array(moved) + Array(file[8..<start])
    }

    private static func file(
        samples: [UInt8], width: Int, height: Int, bands: Int, bits: Int, _ photometric: Photometric,
        orientation: Int = 1, profile: [UInt8] = [], sampleFormat: Int = 1
    ) -> [UInt8] {
        let (bitsOffset, samplesOffset) = (8, 8 + 2 * bands)
        let profileOffset = samplesOffset + samples.count
        let bitsOfBands = bands == 1 ? bits : bands == 2 ? bits << 16 | bits : bitsOffset
        var entries: [(tag: Int, type: Int, count: Int, value: Int)] = [
            (256, 4, 1, width), (257, 4, 1, height), (258, 3, bands, bitsOfBands), (259, 3, 1, 1),
            (262, 3, 1, photometric.rawValue), (273, 4, 1, samplesOffset), (274, 3, 1, orientation),
            (277, 3, 1, bands), (278, 4, 1, height), (279, 4, 1, samples.count),
        ]
        if sampleFormat != 1 { entries.append((339, 3, 1, sampleFormat)) }
        if !profile.isEmpty { entries.append((34675, 7, profile.count, profileOffset)) }
        var file: [UInt8] = [0x49, 0x49, 0x2A, 0]
        file += little(profileOffset + profile.count, 4)
        for _ in 0..<bands { file += little(bits, 2) }
        file += samples
        file += profile
        file += little(entries.count, 2)
        for entry in entries {
            for (number, count) in [(entry.tag, 2), (entry.type, 2), (entry.count, 4), (entry.value, 4)] {
                file += little(number, count)
            }
        }
        file += little(0, 4)
        return file
    }

    private static func little(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
