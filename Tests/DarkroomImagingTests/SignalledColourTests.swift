import DarkroomTestSupport
import DarkroomRecipes
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomImaging

/// Colours that a file describes by numbers instead of a profile.
@Suite struct SignalledColourTests {
    // MARK: - Files

    private static let values = [
        [1, 0.2, 0.2], [0.1, 0.8, 0.3], [0.2, 0.3, 0.9], [0.5, 0.5, 0.5], [0.02, 0.03, 0.01], [1, 1, 1], [0, 0, 0],
        [0.75, 0.7, 0.65], [0.58, 0.58, 0.58], [0.9, 0.1, 0.6], [0.3, 0.31, 0.29], [0.97, 0.99, 0.98],
    ]

    /// A PNG with 16 bits, with one pixel for each of ``values``.
    private static func png(_ chunks: [(type: String, bytes: [UInt8])], bands: Int = 3, bits: Int = 16) -> [UInt8] {
        let white = bits == 16 ? 65535.0 : 255
        let pixels = Pixels(width: values.count, height: 2, bands: bands, bits: bits) { x, _, band in
            Int(((bands % 2 == 0 && band == bands - 1 ? 0.4 : values[x][band]) * white).rounded())
        }
        return PNG.file(pixels, chunks: chunks)
    }

    private static func cicp(_ primaries: Int, _ transfer: Int, range: Int = 1) -> (type: String, bytes: [UInt8]) {
        ("cICP", [UInt8(primaries), UInt8(transfer), 0, UInt8(range)])
    }

    private static func fixture(_ name: String) throws -> [UInt8] {
        try TestFiles.fixture("Colours/\(name)")
    }

    /// The file with other numbers in its nclx.
    private static func fixture(_ name: String, _ primaries: Int, _ transfer: Int) throws -> [UInt8] {
        var file = try fixture(name)
        let nclx = Array("colrnclx".utf8)
        let start = try #require((0..<file.count - 20).first { file[$0..<$0 + 8].elementsEqual(nclx) }) + 8
        file.replaceSubrange(start..<start + 4, with: [0, UInt8(primaries), 0, UInt8(transfer)])
        return file
    }

    private static func png(_ file: [UInt8], _ chain: String = "sepia=0", _ settings: String = "") throws -> Pixels {
        try PNG.pixels(of: develop(file, chain, "format=png\(settings)").bytes)
    }

    private static func expect(
        _ found: Pixels, _ expected: [[Double]], within tolerance: Double, _ comment: String
    ) {
        let white = found.bits == 16 ? 65535.0 : 255
        for (x, colour) in expected.enumerated() {
            for (band, value) in colour.enumerated() {
                let distance = abs(Double(found[x, 1][band]) - value * white)
                #expect(distance <= tolerance, "\(comment), pixel \(x): \(found[x, 1]), \(colour.map { $0 * white })")
            }
        }
    }

    // MARK: - Without HDR

    @Test(arguments: [
        (12, 13), (9, 14), (9, 15), (9, 1), (9, 13), (12, 1), (1, 8), (1, 4), (4, 4), (1, 5), (7, 7), (22, 13),
        (11, 17),
    ])
    func otherColoursGetAProfile(primaries: Int, transfer: Int) throws {
        let file = Self.png([Self.cicp(primaries, transfer)])
        let comment = "primaries \(primaries), transfer \(transfer)"
        // The values are kept, and the profile leads to the same colours.
        let kept = try develop(file, "sepia=0", "format=png").bytes
        Self.expect(try PNG.pixels(of: kept), Self.values, within: 1, comment)
        let expected = Self.values.map { colour in
            let light = colour.map { ColourFormulas.light($0, transfer: transfer) }
            return ColourFormulas.srgb(light, from: ColourFormulas.primaries[primaries]!)
        }
        // lcms computes curves with tables of 16 bits, which is imprecise in the darkest colours.
        Self.expect(try Self.png(file, "sepia=0", "; srgb"), expected, within: 600, comment)
        Self.expect(try Self.png(kept, "sepia=0", "; srgb"), expected, within: 600, comment)
    }

    @Test(arguments: [(1, 13), (2, 2), (1, 2), (1, 1), (1, 6), (6, 6), (5, 6), (1, 14), (0, 200)])
    func usualColoursAreNotChanged(primaries: Int, transfer: Int) throws {
        let file = Self.png([Self.cicp(primaries, transfer)])
        for settings in ["", "; srgb"] {
            let image = try develop(file, "sepia=0", "format=png\(settings)").bytes
            Self.expect(try PNG.pixels(of: image), Self.values, within: 1, "\(primaries), \(transfer)")
            #expect(!image.contains(Array("iCCP".utf8)))
        }
    }

    @Test(arguments: [ImageFormat.jpeg, .webp, .avif, .heic, .jxl, .tiff, .gif]) func everyFormatShowsDisplayP3(
        format: ImageFormat
    ) throws {
        let colour = [180.0 / 255, 90.0 / 255, 60.0 / 255]
        let file = PNG.file(
            Pixels(width: 32, height: 32, bands: 3) { _, _, band in Int((colour[band] * 255).rounded()) },
            chunks: [Self.cicp(12, 13)])
        let expected = ColourFormulas.srgb(
            colour.map { ColourFormulas.light($0, transfer: 13) }, from: ColourFormulas.primaries[12]!)
        for settings in ["", "; srgb", "; metadata=none"] {
            let image = try develop(file, "none", "format=\(format.rawValue); quality=95\(settings)").bytes
            let shown = try Self.png(image, "sepia=0", "; srgb")
            let found = FormatGridTests.quarters(shown)[0]
            #expect(
                zip(found, expected).allSatisfy { abs(Double($0) - $1 * 255) <= 4 }, "\(settings) \(found) \(expected)")
        }
    }

    /// PNG, third edition, 4.3: cICP, then iCCP, then sRGB, then gAMA and cHRM.
    @Test func precedenceIsThatOfPNG() throws {
        func number(_ value: Int) -> [UInt8] { PNG.bigEndian(value) }
        let gamma = (type: "gAMA", bytes: number(100_000))
        let adobe = (
            type: "cHRM",
            bytes: [31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000].flatMap { number($0) }
        )
        let (p3, srgb, profile) = (Self.cicp(12, 13), (type: "sRGB", bytes: [UInt8(0)]), PNG.profile(MatrixProfile.p3))
        func converted(_ primaries: [[Double]], _ light: (Double) -> Double) -> [[Double]] {
            Self.values.map { ColourFormulas.srgb($0.map(light), from: primaries) }
        }
        let curve = { ColourFormulas.light($0, transfer: 13) }
        let (srgbPrimaries, p3Primaries) = (ColourFormulas.primaries[1]!, ColourFormulas.primaries[12]!)
        let adobePrimaries = [[0.64, 0.33], [0.21, 0.71], [0.15, 0.06], [0.3127, 0.3290]]
        let cases: [(String, [(type: String, bytes: [UInt8])], [[Double]])] = [
            (
                "cICP before iCCP", [p3, PNG.profile(ICCProfile.file(space: "RGB ", tags: []))],
                converted(p3Primaries, curve)
            ),
            ("cICP of sRGB before iCCP", [Self.cicp(1, 13), profile], Self.values),
            ("cICP before gAMA", [p3, gamma], converted(p3Primaries, curve)),
            ("sRGB before gAMA", [srgb, gamma, adobe], Self.values),
            ("gAMA", [gamma], converted(srgbPrimaries) { $0 }),
            ("cHRM", [adobe], converted(adobePrimaries, curve)),
            ("gAMA and cHRM", [gamma, adobe], converted(adobePrimaries) { $0 }),
            ("gAMA of sRGB", [("gAMA", number(45455))], Self.values),
            ("cHRM without a triangle", [("cHRM", [UInt8](repeating: 0, count: 32))], Self.values),
        ]
        for (name, chunks, expected) in cases {
            Self.expect(try Self.png(Self.png(chunks), "sepia=0", "; srgb"), expected, within: 600, name)
        }
    }

    @Test(arguments: [8, 16]) func narrowRangeIsWidened(bits: Int) throws {
        let image = try Self.png(Self.png([Self.cicp(1, 13, range: 0)], bands: 4, bits: bits))
        let (black, white) = bits == 16 ? (4096 / 65535.0, 60160 / 65535.0) : (16 / 255.0, 235 / 255.0)
        let expected = Self.values.map { $0.map { min(max(($0 - black) / (white - black), 0), 1) } + [0.4] }
        Self.expect(image, expected, within: 2, "\(bits) bits")
    }

    @Test func greyWithAnotherCurveIsConverted() throws {
        for bands in [1, 2] {
            let file = Self.png([Self.cicp(1, 8)], bands: bands)
            let found = try Self.png(file)
            #expect(found.bands == bands)
            let expected = Self.values.map { [ColourFormulas.srgb($0[0])] + (bands == 2 ? [0.4] : []) }
            Self.expect(found, expected, within: 3, "\(bands) bands")
        }
    }

    // MARK: - AVIF and HEIC

    @Test(arguments: ["p3.avif", "p3.heic"]) func nclxIsApplied(name: String) throws {
        let raw = try Self.png(Self.fixture(name, 1, 13))
        #expect(raw[16, 8].map { ($0 + 128) / (raw.bits == 16 ? 257 : 1) }[0] >= 250, "the top is red: \(raw[16, 8])")
        #expect(try Self.png(Self.fixture(name)).values == raw.values, "the values are kept")
        let white = raw.bits == 16 ? 65535.0 : 255
        for (primaries, transfer) in [(12, 13), (9, 14), (9, 16), (9, 18), (12, 18), (1, 8)] {
            let shown = try Self.png(Self.fixture(name, primaries, transfer), "sepia=0", "; srgb")
            for y in [8, 24] {
                let values = raw[16, y].map { Double($0) / white }
                let expected =
                    transfer == 16 || transfer == 18
                    ? ColourFormulas.sdr(values, isHLG: transfer == 18, primaries: primaries)
                    : ColourFormulas.srgb(
                        values.map { ColourFormulas.light($0, transfer: transfer) },
                        from: ColourFormulas.primaries[primaries]!)
                let distance = zip(shown[16, y], expected).map { abs(Double($0) / white - $1) * 255 }.max() ?? 0
                #expect(distance <= 3, "\(primaries), \(transfer): \(shown[16, y]), \(expected)")
            }
        }
    }

    /// libheif converts the range of video; so Darkroom must not do it again.
    @Test func limitedRangeIsConvertedOnce() throws {
        let pixels = try Self.png(Self.fixture("limited.heic"))
        let found = [8, 24].map { y in pixels[16, y].map { pixels.bits == 16 ? $0 / 257 : $0 } }
        let expected = [[255, 51, 51], [40, 200, 90]]
        for (found, expected) in zip(found, expected) {
            #expect(zip(found, expected).allSatisfy { abs($0 - $1) <= 4 }, "\(found)")
        }
    }

    @Test func tenBitsOfPQAreToneMapped() throws {
        // The numbers of the fixture, of 1023.
        let found = try Self.png(Self.fixture("pq.avif"))
        #expect(found.bits == 16)
        for (y, values) in [(8, [594.0, 594, 594]), (24, [300, 500, 700])] {
            let expected = ColourFormulas.sdr(values.map { $0 / 1023 }, isHLG: false, primaries: 9)
            let distance = zip(found[16, y], expected).map { abs(Double($0) / 65535 - $1) * 255 }.max()!  // not empty
            #expect(distance <= 1.5, "\(found[16, y]), \(expected.map { $0 * 65535 })")
        }
    }

    // MARK: - HDR

    @Test(arguments: [(9, 16), (9, 18), (12, 16), (12, 18), (1, 16)], [8, 16])
    func hdrIsToneMappedByTheFormulas(code: (Int, Int), bits: Int) throws {
        let (primaries, transfer) = code
        for bands in [3, 4] {
            let found = try Self.png(Self.png([Self.cicp(primaries, transfer)], bands: bands, bits: bits))
            let expected = Self.values.map { colour in
                let stored = bits == 8 ? colour.map { ($0 * 255).rounded() / 255 } : colour
                return ColourFormulas.sdr(stored, isHLG: transfer == 18, primaries: primaries)
                    + (bands == 4 ? [0.4] : [])
            }
            // Half a step of the result, and a rounded value of the photo.
            Self.expect(found, expected, within: bits == 8 ? 0.6 : 12, "\(code), \(bands) bands")
        }
        let grey = try Self.png(Self.png([Self.cicp(primaries, transfer)], bands: 1, bits: bits))
        #expect(grey.bands == 1 && grey.bits == bits)
        let expected = Self.values.map { colour in
            let stored = bits == 8 ? (colour[0] * 255).rounded() / 255 : colour[0]
            return [ColourFormulas.sdr([stored, stored, stored], isHLG: transfer == 18, primaries: primaries)[0]]
        }
        Self.expect(grey, expected, within: bits == 8 ? 0.6 : 12, "\(code), grey")
    }

    /// cLLI states the brightest pixel, mDCV the display (PNG, third edition, 11.3.2), in 0.0001 cd/m2.
    @Test(
        arguments: [(nil, 4000, 4000), (600, 4000, 600), (100, nil, 203), (nil, nil, 1000)] as [(Int?, Int?, Double)])
    func statedPeakIsUsed(content: Int?, display: Int?, peak: Double) throws {
        var chunks = [Self.cicp(9, 16)]
        if let content { chunks.append(("cLLI", PNG.bigEndian(content * 10000) + PNG.bigEndian(0))) }
        if let display {
            chunks.append(
                ("mDCV", [UInt8](repeating: 0, count: 16) + PNG.bigEndian(display * 10000) + PNG.bigEndian(1)))
        }
        let expected = Self.values.map { ColourFormulas.sdr($0, isHLG: false, primaries: 9, peak: peak) }
        Self.expect(try Self.png(Self.png(chunks)), expected, within: 12, "peak \(peak)")
    }

    @Test func toneMappingKeepsOrderAndReachesWhite() {
        for peak in [203.0, 300, 1000, 4000, 10000] {
            let steps = (0...1000).map { ColourFormulas.eetf(peak * Double($0) / 1000, from: peak, to: 203) }
            #expect(zip(steps, steps.dropFirst()).allSatisfy { $0 <= $1 })
            #expect(abs(steps[1000] - 203) < 0.01 && steps[0] == 0)
        }
    }

    /// The tag cicp (ICC.1:2022, 9.2.17) marks profiles for HDR, also in JPEGs, which are otherwise made in strips.
    @Test(arguments: Development.Route.allCases) func profileForHDRIsToneMapped(route: Development.Route) throws {
        let curve = ICCProfile.curve(whole: 1, part: 0)
        let column = ICCProfile.xyz([20000, 20000, 20000])
        let profile = ICCProfile.file(
            space: "RGB ",
            tags: [
                ("rXYZ", column), ("gXYZ", column), ("bXYZ", column), ("rTRC", curve), ("gTRC", curve), ("bTRC", curve),
                ("cicp", Array("cicp".utf8) + [0, 0, 0, 0, 9, 16, 0, 1]),
            ])
        let segment = (code: UInt8(0xE2), bytes: Array("ICC_PROFILE\0\u{1}\u{1}".utf8) + profile)
        let jpeg = JPEG.inserting(
            [segment], into: JPEG.file(Pixels(width: 32, height: 32, bands: 3) { _, _, _ in 148 }, .fullColour))
        let image = try develop(jpeg, DevelopOptions(filters: [.sepia(intensity: 0)], format: .jpeg), by: route).bytes
        let expected = ColourFormulas.sdr([148, 148, 148].map { $0 / 255 }, isHLG: false, primaries: 9)[0] * 255
        #expect(abs(Double(try decoded(image)[16, 16][0]) - expected) <= 2)
        #expect(!image.contains(Array("ICC_PROFILE".utf8)))
        let error = expectError(ImagingError.self) { try develop(jpeg, "sepia=0", "format=jpeg; hdr=fail") }
        #expect(error?.detail.contains("HDR (PQ)") == true)
    }

    /// libjxl 0.7 marks its profiles for HDR by their names, later versions also by the tag cicp.
    @Test(arguments: [("pq.jxl", false), ("hlg.jxl", true)]) func profileOfJPEGXLIsToneMapped(
        name: String, isHLG: Bool
    ) throws {
        let found = try Self.png(Self.fixture(name))
        let expected = ColourFormulas.sdr([Double](repeating: 0.58, count: 3), isHLG: isHLG, primaries: 9)
        let distance = zip(found[16, 16], expected).map { abs(Double($0) / 65535 - $1) * 255 }.max()!  // not empty
        #expect(distance <= 0.5, "\(found[16, 16]), \(expected)")
    }

    /// PNGs that are older than cICP (W3C, "High Dynamic Range and Wide Gamut Imaging on the Web").
    @Test func nameOfAProfileMeansPQ() throws {
        let profile = PNG.profile(MatrixProfile.p3).bytes.dropFirst("profile".utf8.count)
        let file = Self.png([("iCCP", Array("ITUR_2100_PQ_FULL".utf8) + profile)])
        let expected = Self.values.map { ColourFormulas.sdr($0, isHLG: false, primaries: 9) }
        Self.expect(try Self.png(file), expected, within: 12, "named profile")
    }

    @Test func hdrFailsIfAsked() throws {
        for (file, name) in [
            (Self.png([Self.cicp(9, 16)]), "PQ"), (Self.png([Self.cicp(9, 18)]), "HLG"),
            (try Self.fixture("pq.avif"), "PQ"),
        ] {
            let error = expectError(ImagingError.self) { try develop(file, "sepia", "hdr=fail; format=jpeg") }
            #expect(error?.code == .unsupportedFormat)
            #expect(
                error?.detail.contains("HDR (\(name)), which --hdr fail refuses") == true,
                "\(String(describing: error))")
            _ = try develop(file, "sepia", "hdr=tone-map; format=jpeg")
            // A photo that is not changed loses nothing.
            #expect(try develop(file, "none", "hdr=fail").bytes == file)
        }
        _ = try develop(Self.png([Self.cicp(12, 13)]), "sepia", "hdr=fail")
    }
}
