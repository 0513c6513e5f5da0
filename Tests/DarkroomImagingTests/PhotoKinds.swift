import CImagingProbes

/// Files of the same photo, in all kinds of pixels and orientations.
struct PhotoFile {
    let name: String
    let bytes: [UInt8]
    /// How far its colours may be from those of the photo, in steps of 255: JPEG and CMYK change colours.
    let tolerance: Int

    /// Sizes, and the orientations of their files.
    static let sizes: [((Int, Int), ClosedRange<Int>)] = [
        ((1, 1), 1...1), ((1, 7), 5...6), ((7, 5), 1...8), ((16, 2), 3...3), ((31, 17), 7...8),
    ]

    /// At most 256 colours. The corners differ: black, red, green and yellow.
    static func photo(width: Int, height: Int) -> Pixels {
        Pixels(width: width, height: height, bands: 3) { x, y, band in
            switch band {
            case 0: 20 + x * 15 / max(width - 1, 1) * 13
            case 1: 30 + y * 15 / max(height - 1, 1) * 12
            default: 60
            }
        }
    }

    /// The files of a photo. `photo` must be RGB with 8 bits.
    static func all(of photo: Pixels, _ orientations: ClosedRange<Int>) -> [PhotoFile] {
        orientations.flatMap { orientation in
            let stored = photo.stored(orientation: orientation)
            let exif = JPEG.exif(orientation: orientation)
            let grey = stored.mapped(bands: 1, bits: 8) { [$0[1]] }
            let wide = stored.mapped(bands: 3, bits: 16) { $0.map { $0 * 257 } }
            let alpha = stored.mapped(bands: 4, bits: 8) { $0 + [255] }
            let cmyk = stored.mapped(bands: 4, bits: 8) { [255 - $0[0], 255 - $0[1], 255 - $0[2], 0] }
            let profile = displayP3
            func jpeg(_ pixels: Pixels, _ kind: JPEG.Kind, icc: Bool = false) -> [UInt8] {
                let segments = [(code: UInt8(0xE1), bytes: exif)]
                let colours = (code: UInt8(0xE2), bytes: Array("ICC_PROFILE\0\u{1}\u{1}".utf8) + profile)
                return JPEG.inserting(segments + (icc ? [colours] : []), into: JPEG.file(pixels, kind, quality: 100))
            }
            func png(_ pixels: Pixels) -> [UInt8] {
                PNG.file(pixels, chunks: [("eXIf", Array(exif.dropFirst(6)))])
            }
            let files: [(String, [UInt8], Int)] = [
                ("RGB JPEG", jpeg(stored, .fullColour), 6), ("grey JPEG", jpeg(grey, .grey), 6),
                ("CMYK JPEG", jpeg(cmyk.mapped(bands: 4, bits: 8) { $0.map { 255 - $0 } }, .cmyk), 255),
                ("P3 JPEG", jpeg(stored, .fullColour, icc: true), 6),
                ("RGB TIFF", TIFF.file(stored, .rgb, orientation: orientation), 0),
                ("grey TIFF", TIFF.file(grey, .grey, orientation: orientation), 0),
                ("16-bit TIFF", TIFF.file(wide, .rgb, orientation: orientation), 0),
                ("P3 TIFF", TIFF.file(stored, .rgb, orientation: orientation, profile: profile), 0),
                ("CMYK TIFF", TIFF.file(cmyk, .cmyk, orientation: orientation), 255),
                ("RGB PNG", png(stored), 0), ("grey PNG", png(grey), 0), ("16-bit PNG", png(wide), 0),
                ("alpha PNG", png(alpha), 0),
                ("palette PNG", PNG.palette(stored, chunks: [("eXIf", Array(exif.dropFirst(6)))]), 0),
            ]
            return files.map { PhotoFile(name: "\($0), orientation \(orientation)", bytes: $1, tolerance: $2) }
        }
    }

    static let displayP3: [UInt8] = {
        var profile = [UInt8](repeating: 0, count: 60_000)
        let count = builtin_profile("p3", &profile, profile.count)
        precondition(count > 0, "libvips has no profile p3")
        return Array(profile.prefix(count))
    }()
}

extension Pixels {
    func mapped(bands: Int, bits: Int, _ change: ([Int]) -> [Int]) -> Pixels {
        var values: [UInt16] = []
        for y in 0..<height {
            for x in 0..<width { values += change(self[x, y]).map(UInt16.init) }
        }
        return Pixels(width: width, height: height, bands: bands, bits: bits, values: values)
    }

    /// The samples, rounded to 8 bits.
    private var bytes: [UInt16] { bits == 16 ? values.map { UInt16((Int($0) + 128) / 257) } : values }

    /// RGB with 8 bits, without alpha.
    var inRGB: Pixels {
        let bytes = bytes
        let values = stride(from: 0, to: bytes.count, by: bands).flatMap { start in
            (0..<3).map { bytes[start + (colourBands == 3 ? $0 : 0)] }
        }
        return Pixels(width: width, height: height, bands: 3, values: values)
    }

    /// RGB with 8 bits, multiplied by alpha, and alpha.
    var visible: Pixels {
        let bytes = bytes
        let values = stride(from: 0, to: bytes.count, by: bands).flatMap { start in
            let alpha = hasAlpha ? bytes[start + bands - 1] : 255
            return (0..<3).map { (bytes[start + (colourBands == 3 ? $0 : 0)] * alpha + 127) / 255 } + [alpha]
        }
        return Pixels(width: width, height: height, bands: 4, values: values)
    }

    /// The pixels in the order of a file with this EXIF orientation (TIFF 6.0, page 36). Row 0 of orientation 6, for
    /// example, is the right side of the photo.
    func stored(orientation: Int) -> Pixels {
        let isTurned = orientation > 4
        let (columns, rows) = isTurned ? (height, width) : (width, height)
        return Pixels(width: columns, height: rows, bands: bands, bits: bits) { column, row, band in
            let (right, bottom) = (width - 1, height - 1)
            let (x, y): (Int, Int)
            switch orientation {
            case 2: (x, y) = (right - column, row)
            case 3: (x, y) = (right - column, bottom - row)
            case 4: (x, y) = (column, bottom - row)
            case 5: (x, y) = (row, column)
            case 6: (x, y) = (right - row, column)
            case 7: (x, y) = (right - row, bottom - column)
            case 8: (x, y) = (row, bottom - column)
            default: (x, y) = (column, row)
            }
            return self[x, y][band]
        }
    }
}
