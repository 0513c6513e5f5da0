import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

/// One rule for the orientation in all formats, on all ways through the program.
@Suite struct OrientationTests {
    /// Red and green at the top, blue and white at the bottom.
    private static let quarters = Pixels(width: 96, height: 64, bands: 3) { x, y, band in
        let colour = y < 32 ? (x < 48 ? [255, 0, 0] : [0, 255, 0]) : (x < 48 ? [0, 0, 255] : [255, 255, 255])
        return colour[band]
    }

    private static func name(_ colour: [Int]) -> String {
        switch colour.map({ $0 > 128 }) {
        case [true, false, false]: "red"
        case [false, true, false]: "green"
        case [false, false, true]: "blue"
        default: "white"
        }
    }

    /// The colours at the top left, top right, bottom left and bottom right.
    private static func seen(_ file: [UInt8]) throws -> [String] {
        let pixels = try decoded(file)
        let (x, y) = (pixels.width / 4, pixels.height / 4)
        return [(x, y), (3 * x, y), (x, 3 * y), (3 * x, 3 * y)].map { name(pixels[$0.0, $0.1]) }
    }

    // MARK: HEIC and AVIF

    @Test(arguments: ["sepia=0", "resize=40x", "blur=1"], [ImageFormat.jpeg, .png, .heic, .tiff])
    func heicIsTurnedOnce(chain: String, format: ImageFormat) throws {
        let photo = try Samples.photoCase("f05-irot-exif6.heic")
        let image = try develop(photo, chain, "format=\(format.rawValue)")
        #expect(image.width < image.height)
        #expect(try Self.seen(image.bytes).prefix(2) == ["blue", "red"])
    }

    @Test func sizeOfAKeptHEICIsThatOfItsTurnedPicture() throws {
        let photo = try Samples.photoCase("f05-irot-exif6.heic")
        let image = try develop(photo, "none")
        #expect(image.bytes == photo)
        #expect((image.width, image.height) == (64, 96))
    }

    @Test func exifDoesNotTurnHEIC() throws {
        let photo = try Samples.photoCase("f05-exif6-only.heic")
        let image = try develop(photo, "sepia=0", "format=png")
        #expect((image.width, image.height) == (96, 64))
        #expect(try Self.seen(image.bytes).prefix(2) == ["red", "green"])
        let exif = try FileParts.exif(develop(photo, "sepia", "format=jpeg").bytes)
        #expect(try FileParts.numbers(#require(exif))[0x112] == 1)
    }

    /// A file that libvips writes has EXIF, but no property that turns it. The test gives the EXIF each orientation.
    @Test(arguments: [ImageFormat.avif, .heic], 1...8)
    func exifDoesNotTurnHEIF(format: ImageFormat, orientation: Int) throws {
        let jpeg = JPEG.inserting(
            [(0xE1, JPEG.exif(orientation: 1))], into: JPEG.file(Self.quarters, .fullColour))
        var heif = try develop(jpeg, "sepia=0", "format=\(format.rawValue)").bytes
        let entry: [UInt8] = [1, 0x12, 0, 3, 0, 0, 0, 1, 0]
        let found = try #require(heif.firstRange(of: entry + [1]))
        heif[found.upperBound - 1] = UInt8(orientation)
        for chain in ["sepia=0", "resize=48x"] {
            let image = try develop(heif, chain, "format=jpeg")
            #expect(image.width > image.height)
            #expect(try Self.seen(image.bytes) == ["red", "green", "blue", "white"])
        }
    }

    @Test func renditionsAreTurnedOnce() throws {
        let photo = try Samples.photoCase("f05-irot-exif6.heic")
        let outputs = try ["resize=32x", "sepia=0", "none"].map {
            var encoding = PhotoEncoding()
            encoding.format = .fixed(.jpeg)
            return ImageOutput(filters: try [PhotoFilter](parsing: $0).builtIn, encoding: encoding)
        }
        for image in try developAll(photo, DevelopOptions(outputs: outputs)) {
            #expect(image.width < image.height)
            #expect(try Self.seen(image.bytes).prefix(2) == ["blue", "red"])
        }
    }

    // MARK: EXIF

    /// The type and the order of bytes of the orientation do not matter on any route.
    @Test(arguments: Development.Route.allCases, [1, 3, 4, 6, 8, 9])
    func orientationMayHaveAnyTypeOfWholeNumbers(route: Development.Route, type: Int) throws {
        let bytes = [1: 1, 6: 1, 3: 2, 8: 2, 4: 4, 9: 4][type] ?? 0
        for isBigEndian in [true, false] {
            func number(_ value: Int, _ count: Int) -> [UInt8] {
                let little = (0..<count).map { UInt8(value >> (8 * $0) & 255) }
                return isBigEndian ? little.reversed() : little
            }
            var tiff = Array((isBigEndian ? "MM" : "II").utf8) + number(42, 2) + number(8, 4)
            tiff += number(1, 2)
            tiff += number(0x112, 2) + number(type, 2) + number(1, 4)
            tiff += number(6, bytes) + [UInt8](repeating: 0, count: 4 - bytes)
            tiff += number(0, 4)
            let jpeg = JPEG.inserting(
                [(0xE1, Array("Exif\0\0".utf8) + tiff)], into: JPEG.file(Self.quarters, .fullColour))
            for chain in ["sepia=0", "none", "resize=32x"] {
                var options = DevelopOptions(filters: try [PhotoFilter](parsing: chain).builtIn)
                // Otherwise the bytes would be kept.
                options.outputs[0].encoding.quality = 84
                let image = try develop(jpeg, options, by: route)
                #expect(image.width < image.height)
                #expect(try Self.seen(image.bytes) == ["blue", "red", "white", "green"])
                #expect(try FileParts.numbers(#require(FileParts.exif(image.bytes)))[0x112] == 1)
            }
        }
    }

    @Test(arguments: ["sepia", "resize=32x", "blur=1"]) func longOrientationIsHonoured(chain: String) throws {
        let image = try develop(try Samples.photoCase("a02-ori-long.jpg"), chain)
        #expect(image.width < image.height)
    }

    @Test(arguments: ["jpeg", "png", "webp", "tiff"]) func textOfAPNGTurnsIt(format: String) throws {
        let photo = try Samples.photoCase("a04-rawexif-ztxt.png")
        let image = try develop(photo, "sepia=0", "format=\(format)")
        #expect((image.width, image.height) == (64, 96))
        let again = try develop(image.bytes, "sepia=0", "format=jpeg")
        #expect((again.width, again.height) == (64, 96))
        if format == "png" {
            let chunks = FileParts.chunks(image.bytes)
            #expect(chunks.filter { $0.name == "eXIf" }.count == 1)
            #expect(!chunks.contains { $0.name.hasSuffix("Xt") })
        }
        #expect(try develop(photo, "none").bytes == photo)
        #expect(try develop(photo, "none").width == 64)
    }

    /// The chunk `eXIf` has precedence.
    @Test func textOfAPNGWithEXIFIsRemoved() throws {
        let exif = Array(JPEG.exif(orientation: 3).dropFirst(6))
        let digits = JPEG.exif(orientation: 6).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let text = "Raw profile type APP1\0\nAPP1\n      \(digits.count / 2)\n\(digits)\n"
        let file = PNG.file(Self.quarters, chunks: [("tEXt", Array(text.utf8)), ("eXIf", exif)])
        let image = try develop(file, "sepia=0")
        #expect(try Self.seen(image.bytes) == ["white", "blue", "green", "red"])
        #expect(!image.bytes.contains(Array("Raw profile".utf8)))
        #expect(FileParts.chunks(image.bytes).filter { $0.name == "eXIf" }.count == 1)
    }

    /// libvips reads no chunks after the pixels.
    @Test(arguments: ["eXIf", "tEXt", "zTXt", "iTXt"]) func chunkAfterThePixelsTurnsAPNG(type: String) throws {
        let exif = JPEG.exif(orientation: 6)
        let digits = exif.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let text = "\nexif\n      \(exif.count)\n\(digits)\n"
        let bytes: [UInt8] =
            switch type {
            case "eXIf": Array(exif.dropFirst(6))
            case "zTXt": Array("Raw profile type exif\0\0".utf8) + PNG.compressed(Array(text.utf8))
            case "iTXt": Array("Raw profile type exif\0\0\0en\0\0\(text)".utf8)
            default: Array("Raw profile type exif\0\(text)".utf8)
            }
        let file = PNG.file(Self.quarters, late: [(type, bytes)])
        #expect(try Self.seen(develop(file, "sepia=0").bytes) == ["blue", "red", "white", "green"])
        let early = PNG.file(
            Self.quarters, chunks: [("eXIf", Array(JPEG.exif(orientation: 1).dropFirst(6)))], late: [(type, bytes)])
        #expect(try Self.seen(develop(early, "sepia=0").bytes) == ["red", "green", "blue", "white"])
    }

    @Test(arguments: [true, false]) func xmpAfterThePixelsOfAPNGIsKept(isCompressed: Bool) throws {
        let packet = Array("<x:xmpmeta xmlns:x='adobe:ns:meta/'>a description</x:xmpmeta>".utf8)
        let head = Array("XML:com.adobe.xmp\0\(isCompressed ? "\u{1}" : "\0")\0\0\0".utf8)
        let file = PNG.file(Self.quarters, late: [("iTXt", head + (isCompressed ? PNG.compressed(packet) : packet))])
        for format in ["jpeg", "png", "webp"] {
            #expect(try develop(file, "sepia=0", "format=\(format)").bytes.contains(packet))
        }
    }

    @Test(arguments: [
        "", "\n", "\nexif\n", "\nexif\n 99999999999\n00", "\nexif\n 4\nzz", "\nexif\n 9\n4d4d002a", "\nexif\n -1\n4d",
    ])
    func damagedTextOfAPNGIsIgnored(text: String) throws {
        let file = PNG.file(
            Self.quarters, chunks: [("tEXt", Array("Raw profile type exif\0\(text)".utf8))])
        #expect(try Self.seen(develop(file, "sepia=0").bytes) == ["red", "green", "blue", "white"])
    }
}
