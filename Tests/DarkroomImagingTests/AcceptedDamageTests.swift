import DarkroomTestSupport
import DarkroomRecipes
import ErrorExpectations
import Testing

@testable import DarkroomImaging

/// `--on-damaged accept`.
@Suite struct AcceptedDamageTests {
    private static func code(_ bytes: [UInt8], _ chain: String, accepts: Bool) throws -> ImagingError.Code? {
        do {
            _ = try develop(bytes, chain, "format=png", damage: accepts ? .accept : .tolerate)
            return nil
        } catch let error as ImagingError {
            return error.code
        }
    }

    private static func photo() throws -> Pixels {
        try decoded(develop(TestFiles.sample("coffee.jpg"), "resize=300x").bytes)
    }

    /// These formats contain their rows in order, so the first rows of a truncated file are decoded.
    @Test(arguments: [ImageFormat.jpeg, .png, .gif], ["sepia=0", "resize=150x", "tilt-shift", "rotate=90"])
    func truncatedFileIsDecodedAsFarAsPossible(format: ImageFormat, chain: String) throws {
        let whole = try develop(PNG.file(Self.photo()), "none", "format=\(format.rawValue); quality=100").bytes
        let half = Array(whole.prefix(whole.count * 6 / 10))
        #expect(try Self.code(half, chain, accepts: false) == .damaged)
        let image = try develop(half, chain, "format=png", damage: .accept)
        let reference = try decoded(develop(whole, chain, "format=png").bytes)
        let found = try decoded(image.bytes)
        #expect((found.width, found.height) == (reference.width, reference.height))
        guard chain == "sepia=0" else { return }
        let isSame = (0..<found.height / 3).allSatisfy { y in
            (0..<found.width).allSatisfy { x in found[x, y].prefix(3) == reference[x, y].prefix(3) }
        }
        #expect(isSame)
    }

    @Test(arguments: [JPEG.Kind.progressive, .restarts, .grey, .cmyk, .arithmetic]) func everyKindOfJPEGIsAccepted(
        kind: JPEG.Kind
    ) throws {
        let photo = try Self.photo()
        let bands = kind == .grey ? 1 : kind == .cmyk ? 4 : 3
        let pixels = Pixels(width: 300, height: 200, bands: bands) { x, y, band in photo[x, y][band % 3] }
        let whole = JPEG.file(pixels, kind)
        for percent in [40, 70, 95] {
            let half = Array(whole.prefix(whole.count * percent / 100))
            #expect(try Self.code(half, "sepia", accepts: false) == .damaged)
            #expect(try Self.code(half, "sepia", accepts: true) == nil)
            #expect(try Self.code(half, "resize=100x", accepts: true) == nil)
        }
    }

    /// A TIFF with its directory in front of the pixels.
    @Test func truncatedStripsOfTIFFStayDamaged() throws {
        let photo = try Self.photo()
        let whole = TIFF.file(photo, .rgb)
        let truncated = TIFF.withDirectoryFirst(whole).dropLast(photo.values.count / 2)
        for accepts in [true, false] {
            #expect(try Self.code(Array(truncated), "sepia", accepts: accepts) == .damaged)
        }
    }

    /// The libraries of these formats decode nothing of a truncated file.
    @Test(arguments: [ImageFormat.webp, .avif, .heic, .jxl]) func otherTruncatedFilesStayDamaged(format: ImageFormat)
        throws
    {
        let whole = try develop(PNG.file(Self.photo()), "none", "format=\(format.rawValue)").bytes
        for accepts in [true, false] {
            #expect(try Self.code(Array(whole.prefix(whole.count * 6 / 10)), "sepia", accepts: accepts) == .damaged)
        }
    }

    @Test func headersMustBeComplete() throws {
        for format in ImageFormat.allCases {
            let whole = try develop(PNG.file(Self.photo()), "none", "format=\(format.rawValue)").bytes
            #expect(try Self.code(Array(whole.prefix(16)), "sepia", accepts: true) == .damaged, "\(format)")
        }
    }

    @Test func limitOfPixelsStaysInForce() throws {
        let whole = try TestFiles.sample("coffee.jpg")
        let error = expectError(ImagingError.self) {
            try develop(Array(whole.prefix(whole.count / 2)), "sepia", damage: .accept, maxPixels: 1000)
        }
        #expect(error?.code == .tooManyPixels)
    }
}
