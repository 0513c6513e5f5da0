import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

@Suite struct MetadataTests {
    private static let model = Array("Darkroom test camera".utf8)

    /// A picture of 48 x 32 pixels. Its quarters are red and green at the top, blue and white at the bottom.
    private static let quarters = Pixels(width: 48, height: 32, bands: 3) { x, y, band in
        let colour = y < 16 ? (x < 24 ? [255, 0, 0] : [0, 255, 0]) : (x < 24 ? [0, 0, 255] : [255, 255, 255])
        return colour[band]
    }

    /// For each orientation, the stored quarters (0 red, 1 green, 2 blue, 3 white) in the order in which they are
    /// shown: top left, top right, bottom left, bottom right (CIPA DC-008, table 6).
    private static let turned = [
        1: [0, 1, 2, 3], 2: [1, 0, 3, 2], 3: [3, 2, 1, 0], 4: [2, 3, 0, 1], 5: [0, 2, 1, 3], 6: [2, 0, 3, 1],
        7: [3, 1, 2, 0], 8: [1, 3, 0, 2],
    ]

    private static func quarter(_ colour: [Int]) -> Int {
        let bright = colour.map { $0 > 128 }
        return [[true, false, false], [false, true, false], [false, false, true]].firstIndex(of: bright) ?? 3
    }

    private static func seen(_ pixels: Pixels) -> [Int] {
        let (x, y) = (pixels.width / 4, pixels.height / 4)
        return [(x, y), (3 * x, y), (x, 3 * y), (3 * x, 3 * y)].map { quarter(pixels[$0.0, $0.1]) }
    }

    @Test(arguments: 1...8, [true, false]) func jpegIsTurnedUpright(orientation: Int, bigEndian: Bool) throws {
        let exif = JPEG.exif(orientation: orientation, bigEndian: bigEndian)
        let file = JPEG.inserting([(0xE1, exif)], into: JPEG.file(Self.quarters, .fullColour))
        let image = try develop(file, DevelopOptions(filters: [.sepia(intensity: 0)]))
        #expect((image.width, image.height) == (orientation < 5 ? (48, 32) : (32, 48)))
        let pixels = try pixelsByStrips(image.bytes, [])
        #expect((pixels.width, pixels.height) == (image.width, image.height))
        #expect(Self.seen(pixels) == Self.turned[orientation])
        // A viewer must not rotate the upright picture again.
        let again = try develop(image.bytes, DevelopOptions(filters: [.sepia(intensity: 0)]))
        #expect((again.width, again.height) == (image.width, image.height))
        #expect(image.bytes.contains(Self.model))
    }

    @Test(arguments: 1...8) func tiffIsTurnedUpright(orientation: Int) throws {
        let file = TIFF.file(Self.quarters, .rgb, orientation: orientation)
        let options = DevelopOptions(filters: [.sepia(intensity: 0)], format: .png)
        let pixels = try PNG.pixels(of: develop(file, options).bytes)
        #expect((pixels.width, pixels.height) == (orientation < 5 ? (48, 32) : (32, 48)))
        #expect(Self.seen(pixels) == Self.turned[orientation])
    }

    @Test(arguments: 1...8) func pngIsTurnedUpright(orientation: Int) throws {
        let exif = Array(JPEG.exif(orientation: orientation).dropFirst(6))
        let file = PNG.file(Self.quarters, chunks: [("eXIf", exif)])
        let pixels = try PNG.pixels(of: develop(file, DevelopOptions(filters: [.sepia(intensity: 0)])).bytes)
        #expect(Self.seen(pixels) == Self.turned[orientation])
    }

    /// The EXIF data of HEIF must stay valid after libvips frees the loaded image.
    @Test(arguments: [ImageFormat.avif, .heic]) func exifOfHEIFIsKeptByFiltersThatNeedMemory(format: ImageFormat) throws
    {
        let file = JPEG.inserting([(0xE1, JPEG.exif(orientation: 1))], into: JPEG.file(Self.quarters, .baseline))
        let heif = try develop(file, DevelopOptions(format: format)).bytes
        let blurred = try develop(heif, DevelopOptions(filters: [.tiltShift(radius: 2)], format: .jpeg)).bytes
        #expect(blurred.contains(Self.model))
    }

    @Test(arguments: [0, 9, 300]) func invalidOrientationIsIgnored(orientation: Int) throws {
        let exif = JPEG.exif(orientation: orientation)
        let file = JPEG.inserting([(0xE1, exif)], into: JPEG.file(Self.quarters, .baseline))
        let image = try develop(file)
        #expect((image.width, image.height) == (48, 32))
    }

    @Test func truncatedEXIFIsIgnored() throws {
        let exif = JPEG.exif(orientation: 6)
        for count in 0..<exif.count {
            let file = JPEG.inserting([(0xE1, Array(exif.prefix(count)))], into: JPEG.file(Self.quarters, .baseline))
            #expect(throws: Never.self) { try develop(file) }
        }
    }

    private static func markers() -> [(code: UInt8, bytes: [UInt8])] {
        [
            (0xE1, JPEG.exif(orientation: 1)),
            (0xE1, Array("http://ns.adobe.com/xap/1.0/\0<x:xmpmeta>kept by darkroom</x:xmpmeta>".utf8)),
            (0xE2, Array("ICC_PROFILE\0\u{1}\u{1}".utf8) + MatrixProfile.p3),
        ]
    }

    @Test(arguments: Development.Route.allCases) func jpegKeepsMetadataAndProfile(route: Development.Route) throws {
        let profile = MatrixProfile.p3
        let file = JPEG.inserting(Self.markers(), into: JPEG.file(Self.quarters, .baseline))
        let kept = try develop(file, by: route).bytes
        #expect(kept.contains(Self.model) && kept.contains(profile) && kept.contains(Array("kept by darkroom".utf8)))
        let bare = try develop(file, DevelopOptions(strip: true), by: route).bytes
        #expect(!bare.contains(Self.model) && !bare.contains(profile) && !bare.contains(Array("by darkroom".utf8)))
    }

    /// Whether each format keeps EXIF, XMP and the profile.
    @Test(arguments: [
        (ImageFormat.jpeg, [true, true, true]), (.png, [true, true, true]), (.webp, [true, true, true]),
        (.avif, [true, true, true]), (.heic, [true, true, true]), (.jxl, [true, true, true]),
        (.tiff, [true, true, true]), (.gif, [false, false, false]),
    ])
    func otherFormatsKeepTheirMetadata(format: ImageFormat, kept: [Bool]) throws {
        let file = JPEG.inserting(Self.markers(), into: JPEG.file(Self.quarters, .baseline))
        let bytes = try develop(file, DevelopOptions(format: format)).bytes
        // PNG compresses the profile, so the test converts the picture to JPEG and searches the JPEG for the profile.
        let again = try develop(bytes, DevelopOptions(format: .jpeg)).bytes
        // JPEG XL stores the profile as numbers, so the result has a different profile.
        let profile = format == .jxl ? Array("ICC_PROFILE".utf8) : MatrixProfile.p3
        let found = [Self.model, Array("kept by darkroom".utf8), profile].map { again.contains($0) }
        #expect(found == kept)
        let bare = try develop(
            develop(file, DevelopOptions(format: format, strip: true)).bytes, DevelopOptions(format: .jpeg))
        #expect(!bare.bytes.contains(Self.model) && !bare.bytes.contains(Array("kept by darkroom".utf8)))
        #expect(format == .jxl || !bare.bytes.contains(profile))
    }

    @Test(arguments: Development.Route.allCases) func oldThumbnailIsRemoved(route: Development.Route) throws {
        let exif = JPEG.exif(orientation: 1, thumbnail: true)
        let file = JPEG.inserting([(0xE1, exif)], into: JPEG.file(Self.quarters, .baseline))
        let bytes = try develop(file, by: route).bytes
        let start = try #require(bytes.firstRange(of: Array("Exif\0\0".utf8))).upperBound
        let bigEndian = bytes[start] == 0x4D
        func number(_ at: Int, _ count: Int) -> Int {
            let field = bytes[start + at..<start + at + count]
            return (bigEndian ? Array(field) : field.reversed()).reduce(0) { $0 << 8 | Int($1) }
        }
        let first = number(4, 4)
        let next = number(first + 2 + 12 * number(first, 2), 4)
        // libexif may leave a second directory; its tags must not include the offset of the thumbnail.
        if next != 0 {
            let tags = (0..<number(next, 2)).map { number(next + 2 + 12 * $0, 2) }
            #expect(!tags.contains(0x201))
        }
        #expect(bytes.contains(Self.model))
    }

    @Test func densityIsKept() throws {
        var file = JPEG.file(Self.quarters, .baseline)
        // The density of JFIF: 300 dots per inch.
        file.replaceSubrange(13..<18, with: [1, 1, 44, 1, 44])
        #expect(Array(try develop(file).bytes[13..<18]) == [1, 1, 44, 1, 44])
    }
}

extension Array where Element == UInt8 {
    func contains(_ part: [UInt8]) -> Bool { Data(self).range(of: Data(part)) != nil }
    func firstRange(of part: [UInt8]) -> Range<Int>? { Data(self).range(of: Data(part)) }
}
