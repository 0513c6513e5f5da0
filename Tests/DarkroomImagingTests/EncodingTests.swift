import DarkroomTestSupport
import DarkroomRecipes
import ErrorExpectations
import Testing

@testable import DarkroomImaging

/// The effect of each encoding setting.
@Suite struct EncodingTests {
    private static let photo = Result { try TestFiles.sample("coffee.jpg") }

    private static func encode(_ format: ImageFormat, _ settings: String, _ chain: String = "resize=300x") throws
        -> ImageFile
    {
        try develop(photo.get(), chain, "format=\(format.rawValue)" + (settings.isEmpty ? "" : "; " + settings))
    }

    @Test(arguments: [ImageFormat.jpeg, .webp, .avif, .heic, .jxl]) func lowerQualityGivesASmallerFile(
        format: ImageFormat
    ) throws {
        let sizes = try [20, 60, 95].map { try Self.encode(format, "quality=\($0)").byteCount }
        #expect(sizes[0] < sizes[1] && sizes[1] < sizes[2], "\(sizes)")
        #expect(try Self.encode(format, "quality=85").bytes == Self.encode(format, "").bytes)
    }

    @Test(arguments: [ImageFormat.webp, .avif, .heic, .jxl]) func losslessKeepsThePixels(format: ImageFormat) throws {
        let original = try decoded(Self.encode(.png, "").bytes)
        let lossless = try Self.encode(format, "lossless")
        let pixels = Pixels(to8Bits: try decoded(lossless.bytes))
        let distance = try #require(pixels.distance(to: original))
        // libvips stores AVIF and HEIC in YCbCr, so conversion rounds the values.
        #expect(distance <= ([.avif, .heic].contains(format) ? 3 : 0), "\(distance)")
        #expect(try Self.encode(format, "").byteCount < lossless.byteCount)
    }

    @Test func losslessKeepsSixteenBitsInJPEGXL() throws {
        let input = Pixels.gradient(width: 300, height: 20, bands: 3, bits: 16)
        let pixels = try decoded(develop(PNG.file(input), "none", "format=jxl; lossless").bytes)
        #expect(pixels.distance(to: input) == 0)
    }

    @Test(arguments: [ImageFormat.jpeg, .png, .webp, .avif, .jxl, .gif]) func effortChangesTheFile(
        format: ImageFormat
    ) throws {
        let (fast, slow) = (try Self.encode(format, "effort=0"), try Self.encode(format, "effort=9"))
        #expect(fast.bytes != slow.bytes)
        // A higher effort may give a better picture instead of a smaller file.
        if [.jpeg, .png, .webp].contains(format) { #expect(slow.byteCount < fast.byteCount) }
    }

    /// Only these run in the worker process. libjpeg cannot be stopped during passes over the whole picture.
    @Test(arguments: [
        ("", true), ("quality=95; chroma=444", true), ("effort=4", true), ("effort=5", false), ("progressive", false),
        ("format=webp", false),
    ])
    func onlyJPEGsOfOnePassCanAlwaysStop(settings: String, canStop: Bool) throws {
        let output = ImageOutput(encoding: try PhotoEncoding(parsing: settings))
        let options = DevelopOptions(outputs: [output])
        #expect(Imaging.canAlwaysStop(try Self.photo.get(), options) == canStop)
    }

    @Test func progressiveWritesScansAndInterlacedRows() throws {
        for isProgressive in [true, false] {
            let setting = isProgressive ? "progressive" : ""
            let frame = try JPEG.frame(of: Self.encode(.jpeg, setting).bytes)
            #expect(frame.marker == (isProgressive ? 0xC2 : 0xC0), "SOF2 or SOF0 (ISO 10918-1, B.1.1.3)")
            let interlace = try Self.encode(.png, setting).bytes[28]
            #expect(interlace == (isProgressive ? 1 : 0), "Adam7 (PNG, 11.2.1)")
        }
    }

    @Test(arguments: ["resize=300x", "sepia"]) func chromaSetsTheSamplingFactorsOfJPEG(chain: String) throws {
        for (setting, factors) in [
            ("chroma=420; quality=95", 0x22), ("chroma=444; quality=50", 0x11), ("quality=85", 0x22),
            ("quality=95", 0x11),
        ] {
            let frame = try JPEG.frame(of: Self.encode(.jpeg, setting, chain).bytes)
            #expect(frame.factors == [factors, 0x11, 0x11], "\(setting)")
        }
    }

    @Test(arguments: [ImageFormat.webp, .avif, .heic]) func chromaChangesOtherFormats(format: ImageFormat) throws {
        #expect(try Self.encode(format, "chroma=420").bytes != Self.encode(format, "chroma=444").bytes)
    }

    @Test func paletteWritesASmallerPNG() throws {
        let (full, palette) = (try Self.encode(.png, ""), try Self.encode(.png, "palette"))
        #expect(full.bytes[25] == 2 && palette.bytes[25] == 3, "the colour type (PNG, 11.2.1)")
        #expect(palette.byteCount < full.byteCount / 2)
        #expect(try Self.encode(.png, "palette; quality=10").byteCount < palette.byteCount)
        let distance = try #require(decoded(palette.bytes).distance(to: decoded(full.bytes)))
        #expect(distance < 128)
    }

    @Test func backgroundIsBehindTransparentPixels() throws {
        for (bands, colour) in [(4, [0x20, 0x90, 0xD0]), (2, [0x20, 0x90, 0xD0]), (2, [0x90, 0x90, 0x90])] {
            for bits in [8, 16] {
                let clear = Pixels(width: 32, height: 32, bands: bands, bits: bits) { _, _, _ in 0 }
                let text = "#" + colour.map { String($0, radix: 16) }.joined()
                let image = try develop(PNG.file(clear), "none", "format=jpeg; background=\(text)")
                let quarter = FormatGridTests.quarters(try decoded(image.bytes))[0]
                #expect(zip(quarter, colour).allSatisfy { abs($0 - $1) <= 3 }, "\(bands) bands: \(quarter)")
            }
        }
    }

    /// Settings that a format does not have, with photos that they would change if they were applied.
    @Test(arguments: ImageFormat.allCases) func otherSettingsDoNotChangeTheFile(format: ImageFormat) throws {
        let texts: [EncodingSetting: String] = [
            .quality: "10", .lossless: "yes", .effort: "0", .progressive: "yes", .chroma: "444", .palette: "yes",
            .background: "#ff0000",
        ]
        let wide = PNG.file(.gradient(width: 60, height: 40, bands: 4, bits: 16))
        let jpeg = JPEG.file(.gradient(width: 60, height: 40), .baseline)
        for (setting, text) in texts {
            var settings = PhotoEncoding()
            settings.format = .fixed(format)
            let usual = settings
            try settings.set(setting, to: text)
            guard !settings.affects(format, setting) else { continue }
            for photo in [wide, jpeg] {
                for chain in ["sepia", "flip"] {
                    let filters = try [PhotoFilter](parsing: chain).builtIn
                    let files = try [usual, settings].map {
                        try develop(photo, DevelopOptions(outputs: [ImageOutput(filters: filters, encoding: $0)])).bytes
                    }
                    #expect(files[0] == files[1], "\(setting.rawValue) changed \(format) after \(chain)")
                }
            }
        }
    }

    // MARK: - The smallest format

    @Test func autoWritesTheSmallestFile() throws {
        for chain in ["resize=300x", "resize=300x contrast=0"] {
            let formats = [ImageFormat.jpeg, .png, .webp, .gif]
            let sizes = try formats.map { try Self.encode($0, "", chain).byteCount }
            let image = try develop(Self.photo.get(), chain, "format=auto:jpeg,png,webp,gif")
            let smallest = try #require(sizes.min())
            #expect(image.byteCount == smallest)
            #expect(image.format == formats[sizes.firstIndex(of: smallest)!])
        }
    }

    @Test func autoNeverLosesTransparency() throws {
        let clear = PNG.file(Pixels.gradient(width: 200, height: 200, bands: 4))
        #expect(try develop(clear, "none", "format=auto:jpeg,png").format == .png)
        #expect(try develop(clear, "none", "format=auto:jpeg").format == .jpeg)
    }

    @Test func autoLeavesOutFormatsThatAreTooSmallForThePhoto() throws {
        let long = PNG.file(Pixels(width: 17_000, height: 2, bands: 1) { x, _, _ in x & 255 })
        #expect(try develop(long, "none", "format=auto:webp,png").format == .png)
    }

    // MARK: - The size of the file

    @Test(arguments: [ImageFormat.jpeg, .webp, .avif, .heic, .jxl]) func maxBytesTakesTheHighestQualityThatFits(
        format: ImageFormat
    ) throws {
        let effort = format == .jpeg ? 9 : 0
        let size = { (quality: Int) throws -> Int in
            try Self.encode(format, "effort=\(effort); quality=\(quality)").byteCount
        }
        let limit = try (size(20) + size(70)) / 2
        let image = try Self.encode(format, "effort=\(effort); max-bytes=\(limit)")
        #expect(image.byteCount <= limit)
        let quality = try #require((1..<85).last { try size($0) == image.byteCount })
        #expect(try size(quality + 1) > limit, "quality \(quality)")
        // A quality that fits at once is not changed.
        #expect(try Self.encode(format, "effort=\(effort); quality=40; max-bytes=10M").byteCount == size(40))
    }

    @Test(arguments: [
        ("format=jpeg; max-bytes=200", "with quality 1, more than max-bytes=200 allows"),
        ("format=png; max-bytes=200", "and png has no quality to lower, more than max-bytes=200 allows"),
        ("format=webp; lossless; max-bytes=200", "and webp without loss has no quality to lower"),
    ])
    func impossibleMaxBytesIsAnError(settings: String, message: String) throws {
        let error = expectError(ImagingError.self) { try develop(Self.photo.get(), "resize=300x", settings) }
        #expect(error?.code == .filterFailed)
        #expect(error?.detail.contains(message) == true, "\(String(describing: error))")
    }

    @Test func autoWithMaxBytesTakesAFormatThatFits() throws {
        let image = try develop(Self.photo.get(), "resize=300x", "format=auto:png,jpeg; max-bytes=9K")
        #expect(image.format == .jpeg && image.byteCount <= 9000)
    }
}

extension Pixels {
    /// The picture with 8 bits, rounded.
    init(to8Bits other: Pixels) {
        let values = other.bits == 8 ? other.values : other.values.map { UInt16((Int($0) + 128) / 257) }
        self.init(width: other.width, height: other.height, bands: other.bands, values: values)
    }
}
