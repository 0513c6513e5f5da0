import DarkroomTestSupport
import DarkroomRecipes
import ErrorExpectations
import Testing

@testable import DarkroomImaging

/// Photos whose bytes need no change.
@Suite struct KeptPhotoTests {
    private static let pixels = Pixels.gradient(width: 60, height: 40)

    private static func file(_ format: ImageFormat) throws -> [UInt8] {
        switch format {
        case .jpeg: JPEG.file(pixels, .baseline)
        case .png: PNG.file(pixels)
        default: try develop(PNG.file(pixels), "none", "format=\(format.rawValue)").bytes
        }
    }

    @Test(arguments: ImageFormat.allCases) func bytesAreKept(format: ImageFormat) throws {
        let file = try Self.file(format)
        for settings in [
            "", "format=\(format.rawValue)", "format=same; metadata=all", "format=auto:\(format.rawValue)", "effort=9",
            "max-bytes=1M", "background=red", "lossless=no; progressive=no",
        ] {
            let image = try develop(file, "none", settings)
            #expect(image.bytes == file, "\(settings)")
            #expect((image.format, image.width, image.height) == (format, 60, 40))
        }
    }

    /// A setting that cannot change the format does not cost a new encoding.
    @Test(arguments: [
        (ImageFormat.png, "quality=50"), (.png, "lossless"), (.webp, "progressive"), (.tiff, "quality=50"),
        (.gif, "palette"),
        (.jxl, "chroma=444"),
    ])
    func settingsOfOtherFormatsKeepTheBytes(format: ImageFormat, settings: String) throws {
        let file = try Self.file(format)
        #expect(try develop(file, "none", settings).bytes == file)
    }

    @Test(arguments: [
        (ImageFormat.jpeg, "quality=50"), (.png, "palette"), (.webp, "lossless"), (.jpeg, "progressive"),
        (.jpeg, "metadata=none"), (.jpeg, "metadata=no-gps"), (.jpeg, "chroma=444"), (.jpeg, "max-bytes=500"),
        (.png, "format=webp"), (.png, "format=auto:png,webp"),
    ])
    func otherSettingsEncodeAgain(format: ImageFormat, settings: String) throws {
        let file = try Self.file(format)
        do {
            #expect(try develop(file, "none", settings).bytes != file)
        } catch let error as ImagingError {
            #expect(error.detail.contains("max-bytes"), "\(error)")
        }
    }

    @Test(arguments: 1...8) func orientationStaysInTheBytes(orientation: Int) throws {
        let exif = JPEG.exif(orientation: orientation)
        let jpeg = JPEG.inserting([(0xE1, exif)], into: JPEG.file(Self.pixels, .baseline))
        let png = PNG.file(Self.pixels, chunks: [("eXIf", Array(exif.dropFirst(6)))])
        for file in [jpeg, png] {
            let image = try develop(file, "none")
            #expect(image.bytes == file)
            // The size is the size as it is shown.
            #expect((image.width, image.height) == (orientation > 4 ? (40, 60) : (60, 40)))
        }
    }

    @Test func dataAfterThePhotoIsKeptToo() throws {
        let file = try Self.file(.jpeg) + Array("tail".utf8)
        #expect(try develop(file, "none").bytes == file)
    }

    @Test(arguments: ImageFormat.allCases) func damagedPhotoFailsUnlessItIsAccepted(format: ImageFormat) throws {
        let whole = try develop(TestFiles.sample("coffee.jpg"), "resize=300x", "format=\(format.rawValue)").bytes
        let half = Array(whole.prefix(whole.count * 6 / 10))
        let error = expectError(ImagingError.self) { try develop(half, "none") }
        #expect(error?.code == .damaged)
        // Its header must be readable.
        guard [.jpeg, .png, .gif, .jxl].contains(format) else { return }
        #expect(try develop(half, "none", damage: .accept).bytes == half)
    }

    @Test func oneOfSeveralOutputsIsKept() throws {
        let file = try Self.file(.jpeg)
        let outputs = [("none", ""), ("resize=30x", "format=webp"), ("none", "format=png")].map { chain, settings in
            ImageOutput(
                filters: chain == "none" ? [] : [Filter.parsed(chain)],
                encoding: try! PhotoEncoding(parsing: settings))
        }
        let images = try Imaging.develop(file, DevelopOptions(outputs: outputs))
        #expect(images[0].bytes == file)
        #expect(images.map(\.format) == [.jpeg, .webp, .png])
        #expect(images.map(\.width) == [60, 30, 60])
    }

    @Test func hugePhotoIsRefusedAlsoIfItIsKept() throws {
        let error = expectError(ImagingError.self) { try develop(Self.file(.jpeg), "none", maxPixels: 100) }
        #expect(error?.code == .tooManyPixels)
    }
}
