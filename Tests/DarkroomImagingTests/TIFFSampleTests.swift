import DarkroomRecipes
import ErrorExpectations
import Testing

@testable import DarkroomImaging

/// Samples that only TIFFs have: signed, 32 bits, floating point, and samples beside colour and alpha.
@Suite struct TIFFSampleTests {
    /// A number format of samples, and the numbers of black and white.
    struct Kind: CustomTestStringConvertible {
        let format: Int
        let bits: Int
        let black: Double
        let white: Double
        var testDescription: String { "format \(format), \(bits) bits, \(black) to \(white)" }

        /// The numbers, little-endian.
        func encoded(_ value: Double) -> [UInt8] {
            if format == 3 { return Self.bytes(UInt64(Float(value).bitPattern), 4) }
            return Self.bytes(UInt64(bitPattern: Int64(value.rounded())), bits / 8)
        }

        static func bytes(_ number: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }

        static let all = [
            Kind(format: 2, bits: 8, black: -128, white: 127), Kind(format: 2, bits: 16, black: -32768, white: 32767),
            Kind(format: 2, bits: 32, black: -2_147_483_648, white: 2_147_483_647),
            Kind(format: 1, bits: 32, black: 0, white: 4_294_967_295), Kind(format: 3, bits: 32, black: 0, white: 1),
        ]
    }

    private static let width = 65

    /// A ramp from black to white in each band, shifted by a third for each band.
    private static func share(_ x: Int, _ band: Int) -> Double {
        Double((x + band * 21) % width) / Double(width - 1)
    }

    private static func file(
        _ kind: Kind, bands: Int, photometric: Int, tags: [Int: TIFFPage.Value] = [:]
    ) -> [UInt8] {
        let samples = (0..<width * 2).flatMap { i in
            (0..<bands).flatMap { band in
                kind.encoded(kind.black + share(i % width, band) * (kind.white - kind.black))
            }
        }
        return TIFFPage.file([
            TIFFPage(
                width: width, height: 2, bands: bands, bits: kind.bits, photometric: photometric, format: kind.format,
                samples: samples, tags: tags)
        ])
    }

    private static func expect(_ file: [UInt8], bands: Int, isInverted: Bool = false, _ comment: String) throws {
        let pixels = try PNG.pixels(of: develop(file, "none", "format=png").bytes)
        #expect(pixels.bands == bands && pixels.bits == 16, "\(comment)")
        // Numbers with 8 bits, and numbers up to 4095, are not exact shares.
        let tolerance = comment.contains("8 bits") ? 257 : comment.contains("to 4095") ? 9 : 2
        for x in 0..<width {
            for band in 0..<min(bands, pixels.bands) {
                let share = share(x, band), expected = (isInverted ? 1 - share : share) * 65535
                let found = Double(pixels[x, 1][band])
                #expect(abs(found - expected) <= Double(tolerance), "\(comment), x \(x), band \(band)")
            }
        }
    }

    @Test(arguments: Kind.all) func rangeOfTheFormatBecomesBlackToWhite(kind: Kind) throws {
        try Self.expect(Self.file(kind, bands: 1, photometric: 1), bands: 1, "grey, \(kind.testDescription)")
        try Self.expect(Self.file(kind, bands: 3, photometric: 2), bands: 3, "RGB, \(kind.testDescription)")
        try Self.expect(
            Self.file(kind, bands: 1, photometric: 0), bands: 1, isInverted: true, "white is 0, \(kind.testDescription)"
        )
        let alpha = Self.file(kind, bands: 4, photometric: 2, tags: [338: .short([2])])
        try Self.expect(alpha, bands: 4, "alpha, \(kind.testDescription)")
    }

    /// SMinSampleValue (340) and SMaxSampleValue (341), with the types that programs use.
    @Test func documentedRangeBecomesBlackToWhite() throws {
        let ranges: [(Kind, TIFFPage.Value, TIFFPage.Value)] = [
            (Kind(format: 3, bits: 32, black: -5, white: 20), .float([-5]), .float([20])),
            (Kind(format: 3, bits: 32, black: 0, white: 255), .double([0]), .double([255])),
            (Kind(format: 1, bits: 32, black: 1000, white: 500_000), .long([1000]), .long([500_000])),
            (Kind(format: 2, bits: 16, black: 0, white: 4095), .short([0]), .short([4095])),
        ]
        // libtiff requires as many numbers as samples.
        for (kind, least, most) in ranges {
            let tags: [Int: TIFFPage.Value] = [340: least, 341: most]
            let comment = kind.testDescription
            try Self.expect(Self.file(kind, bands: 1, photometric: 1, tags: tags), bands: 1, comment)
            try Self.expect(
                Self.file(kind, bands: 1, photometric: 0, tags: tags), bands: 1, isInverted: true, comment)
        }
    }

    @Test func numbersBeyondTheRangeAreClamped() throws {
        let values: [Float] = [-3, 0.5, 7, .nan, .infinity, -.infinity]
        let samples = values.flatMap { Kind.bytes(UInt64($0.bitPattern), 4) }
        let page = TIFFPage(
            width: values.count, height: 1, bands: 1, bits: 32, photometric: 1, format: 3, samples: samples)
        let pixels = try PNG.pixels(of: develop(TIFFPage.file([page]), "none", "format=png").bytes)
        #expect(pixels.values == [0, 32768, 65535, 0, 65535, 0])
    }

    @Test func cmykWithAnyNumbersIsConverted() throws {
        let eight = try develop(
            Self.file(Kind(format: 1, bits: 16, black: 0, white: 65535), bands: 4, photometric: 5), "none", "format=png"
        )
        let expected = try PNG.pixels(of: eight.bytes)
        for kind in Kind.all where kind.bits > 8 {
            let image = try develop(Self.file(kind, bands: 4, photometric: 5), "none", "format=png")
            let distance = try #require(PNG.pixels(of: image.bytes).distance(to: expected))
            #expect(distance <= 16, "\(kind.testDescription)")
        }
    }

    @Test(arguments: [
        (3, 64, 1, "floating-point samples with 64 bits"), (3, 16, 1, "floating-point samples with 16 bits"),
        (3, 24, 1, "floating-point samples with 24 bits"), (1, 64, 1, "samples with 64 bits"),
        (2, 64, 3, "samples with 64 bits"), (1, 12, 1, "samples with 12 bits"), (6, 64, 1, "complex samples"),
        (6, 128, 1, "complex samples"), (5, 32, 1, "complex samples"), (9, 8, 1, "samples of an unknown format"),
    ])
    func otherNumbersAreUnsupportedAndNotDamaged(format: Int, bits: Int, bands: Int, problem: String) {
        let page = TIFFPage(
            width: 8, height: 8, bands: bands, bits: bits, photometric: bands == 1 ? 1 : 2, format: format,
            samples: [UInt8](repeating: 0, count: 64 * bands * bits / 8))
        let error = expectError(ImagingError.self) { try develop(TIFFPage.file([page]), "sepia") }
        #expect(
            error?.code == .unsupportedFormat && error?.detail.contains(problem) == true, "\(String(describing: error))"
        )
    }

    // MARK: - Samples beside the colour

    /// ExtraSamples: 0 unspecified, 1 alpha by which the colours are multiplied, 2 alpha.
    @Test(
        arguments: [
            ([0], nil), ([2], 0), ([0, 0], nil), ([0, 2], 1), ([2, 0], 0), ([0, 0, 2], 2), ([0, 0, 0, 0], nil),
        ] as [([Int], Int?)])
    func onlyAlphaIsAlpha(extras: [Int], alpha: Int?) throws {
        for (photometric, colours) in [(1, 1), (0, 1), (2, 3), (5, 4)] {
            let colour: [UInt8] = [200, 40, 90, 10].prefix(colours).map { $0 }
            // The values of the extra samples differ, and are not valid alpha for a whole picture.
            let others = (0..<extras.count).map { UInt8(60 + 20 * $0) }
            let page = TIFFPage(
                width: 8, height: 8, bands: colours + extras.count, bits: 8, photometric: photometric,
                samples: Array(repeating: colour + others, count: 64).flatMap { $0 }, tags: [338: .short(extras)])
            let plain = TIFFPage(
                width: 8, height: 8, bands: colours, bits: 8, photometric: photometric,
                samples: Array(repeating: colour, count: 64).flatMap { $0 })
            let found = try PNG.pixels(of: develop(TIFFPage.file([page]), "none", "format=png").bytes)[4, 4]
            let expected = try PNG.pixels(of: develop(TIFFPage.file([plain]), "none", "format=png").bytes)[4, 4]
            #expect(found == expected + (alpha.map { [Int(others[$0])] } ?? []), "\(photometric), \(extras)")
        }
    }

    /// A JPEG of such a file was white.
    @Test func unspecifiedSampleDoesNotHideThePhoto() throws {
        let page = TIFFPage(
            width: 16, height: 16, bands: 4, bits: 8, photometric: 2,
            samples: Array(repeating: [200, 40, 40, 0], count: 256).flatMap { $0 }, tags: [338: .short([0])])
        let pixels = try decoded(develop(TIFFPage.file([page]), "none", "format=jpeg; quality=95").bytes)
        #expect(zip(pixels[8, 8], [200, 40, 40]).allSatisfy { abs($0 - $1) <= 4 }, "\(pixels[8, 8])")
    }
}
