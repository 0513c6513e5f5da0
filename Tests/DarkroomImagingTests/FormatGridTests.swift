import DarkroomRecipes
import Testing

@testable import DarkroomImaging

/// Converts pictures of all kinds between all formats.
@Suite struct FormatGridTests {
    /// A kind of pixels: grey or RGB, with or without alpha, with 8 or 16 bits.
    struct Kind: CustomStringConvertible {
        let bands: Int
        let bits: Int

        static let all = [1, 2, 3, 4].flatMap { bands in [8, 16].map { Kind(bands: bands, bits: $0) } }
        var description: String { "\(bands) bands of \(bits) bits" }
        var isGrey: Bool { bands <= 2 }
        var hasAlpha: Bool { bands % 2 == 0 }
    }

    /// The colours of the quarters: top left, top right, bottom left, bottom right. The last one is transparent if the
    /// picture has alpha.
    private static let colours = [[200, 60, 40], [40, 160, 80], [60, 80, 200], [230, 225, 220]]
    private static let greys = [40, 100, 170, 230]

    private static func picture(_ kind: Kind) -> Pixels {
        Pixels(width: 64, height: 48, bands: kind.bands, bits: kind.bits) { x, y, band in
            let quarter = (y < 24 ? 0 : 2) + (x < 32 ? 0 : 1)
            let isAlpha = kind.hasAlpha && band == kind.bands - 1
            let value = isAlpha ? (quarter == 3 ? 0 : 255) : kind.isGrey ? greys[quarter] : colours[quarter][band]
            return kind.bits == 16 ? value * 257 : value
        }
    }

    private static func colours(_ kind: Kind) -> [[Int]] {
        kind.isGrey ? greys.map { [$0, $0, $0] } : colours
    }

    /// The colours in the middle of the quarters, in 8 bits: red, green, blue and alpha.
    static func quarters(_ pixels: Pixels) -> [[Int]] {
        let (x, y) = (pixels.width / 4, pixels.height / 4)
        return [(x, y), (3 * x, y), (x, 3 * y), (3 * x, 3 * y)].map { x, y in
            let values = pixels[x, y].map { pixels.bits == 16 ? ($0 + 128) / 257 : $0 }
            let colour = pixels.bands <= 2 ? [values[0], values[0], values[0]] : Array(values.prefix(3))
            return colour + [pixels.bands % 2 == 0 ? values[values.count - 1] : 255]
        }
    }

    private static func near(_ found: [Int], _ expected: [Int]) -> Bool {
        zip(found, expected).allSatisfy { abs($0 - $1) <= 9 }
    }

    private func check(_ file: [UInt8], _ kind: Kind, to format: ImageFormat, _ comment: String) throws {
        let colours = Self.colours(kind)
        for (chain, width, inverted) in [("none", 64, false), ("invert", 64, true), ("resize=32x", 32, false)] {
            let image = try develop(
                file, chain, "format=\(format.rawValue); effort=0; quality=95; background=#c08040")
            let comment = "\(comment), \(kind) to \(format), \(chain)"
            #expect(image.withUnsafeBytes { ContentType(of: $0) } == .image(format), "\(comment)")
            #expect((image.width, image.height) == (width, width * 3 / 4), "\(comment)")
            let pixels = try decoded(image.bytes)
            #expect((pixels.width, pixels.height) == (width, width * 3 / 4), "\(comment)")
            let quarters = Self.quarters(pixels)
            for (index, colour) in colours.enumerated() {
                let isClear = kind.hasAlpha && index == 3
                if isClear && format != .jpeg {
                    #expect(quarters[index][3] == 0, "\(comment), quarter \(index): \(quarters[index])")
                } else {
                    let shown = isClear ? [0xC0, 0x80, 0x40] : inverted ? colour.map { 255 - $0 } : colour
                    #expect(
                        Self.near(quarters[index], shown + [255]), "\(comment), quarter \(index): \(quarters[index])")
                }
            }
        }
    }

    @Test(arguments: ImageFormat.allCases, ImageFormat.allCases)
    func everyFormatBecomesEveryFormat(from source: ImageFormat, to format: ImageFormat) throws {
        for kind in Kind.all where source != .jpeg || !kind.hasAlpha {
            let png = PNG.file(Self.picture(kind))
            let file = source == .png ? png : try develop(png, "none", "format=\(source.rawValue); quality=98").bytes
            try check(file, kind, to: format, "\(source)")
        }
    }

    @Test(arguments: ImageFormat.allCases) func palettesBecomeEveryFormat(format: ImageFormat) throws {
        for kind in Kind.all {
            let file = try develop(PNG.file(Self.picture(kind)), "none", "format=png; palette").bytes
            #expect(file[25] == 3, "the colour type of a palette (PNG, 11.2.1)")
            try check(file, kind, to: format, "palette")
        }
    }

    @Test(arguments: ImageFormat.allCases) func cmykBecomesEveryFormat(format: ImageFormat) throws {
        // In a JPEG with the Adobe marker, the ink values are inverted; libjpeg writes this marker for CMYK.
        let inks = Pixels(width: 64, height: 48, bands: 4) { x, _, band in band == (x < 32 ? 0 : 2) ? 255 : 0 }
        let inverted = Pixels(width: 64, height: 48, bands: 4, values: inks.values.map { 255 - $0 })
        for file in [TIFF.file(inks, .cmyk), JPEG.file(inverted, .cmyk)] {
            for chain in ["none", "resize=32x"] {
                let image = try develop(file, chain, "format=\(format.rawValue); quality=95")
                let quarters = Self.quarters(try decoded(image.bytes))
                #expect(quarters[0][0] < 100 && quarters[0][2] > 180, "\(chain), cyan: \(quarters[0])")
                #expect(quarters[1][0] > 200 && quarters[1][2] < 100, "\(chain), yellow: \(quarters[1])")
            }
        }
    }

    @Test(arguments: ImageFormat.allCases) func bitsAreKeptIfTheFormatHasThem(format: ImageFormat) throws {
        let image = try develop(PNG.file(Self.picture(Kind(bands: 3, bits: 16))), "none", "format=\(format.rawValue)")
        #expect(try decoded(image.bytes).bits == ([.jpeg, .webp, .gif].contains(format) ? 8 : 16))
    }

    @Test func errorNamesThePackageOfAMissingFormat() throws {
        #expect(Imaging.problem(saving: ImageFormat.allCases) == nil)
        for (format, package) in [(ImageFormat.avif, "libheif-plugin-aomenc"), (.heic, "libheif-plugin-x265")] {
            let problem = try #require(Imaging.problem(saving: [.jpeg, format], canSave: { $0 != format }))
            #expect(problem.contains("cannot write \(format.rawValue);") && problem.contains(package))
        }
    }
}
