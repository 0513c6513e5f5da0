import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

/// Metadata that libvips itself would lose.
@Suite struct LostMetadataTests {
    /// Every tag of EXIF stays, also those that libexif does not know, and the maker note, at its old position.
    @Test(arguments: ["sepia", "blur=1", "resize=40x", "flip"], ["jpeg", "png", "webp", "avif", "heic"])
    func allTagsAreKept(chain: String, format: String) throws {
        let photo = try Samples.photoCase("x1-exif.jpg")
        let image = try develop(photo, chain, "format=\(format)")
        let jpeg = format == "jpeg" ? image.bytes : try develop(image.bytes, "sepia=0", "format=jpeg").bytes
        let (before, after) = (try #require(FileParts.exif(photo)), try #require(FileParts.exif(jpeg)))
        #expect(FileParts.numbers(after)[0x4746] == 5)
        #expect(after.contains(Array((1...199).map { UInt8($0) })))
        // Only the width and the height may differ.
        #expect(after.count == before.count && zip(before, after).filter { $0 != $1 }.count <= 2)
    }

    @Test(arguments: ["exif", "no-gps", "all"]) func ratingIsKeptWithASelection(selection: String) throws {
        let photo = try Samples.photoCase("x1-exif.jpg")
        for chain in ["sepia", "blur=1"] {
            let image = try develop(photo, chain, "metadata=\(selection)")
            #expect(try FileParts.numbers(#require(FileParts.exif(image.bytes)))[0x4746] == 5)
        }
    }

    /// The JFIF segment is the first.
    private static func density(_ jpeg: [UInt8]) -> [UInt8] {
        let jfif = FileParts.segments(jpeg).first { $0.bytes.starts(with: Array("JFIF\0".utf8)) }
        return Array(jfif?.bytes[7..<12] ?? [])
    }

    private static let dpi300: [UInt8] = [1, 1, 44, 1, 44]

    @Test(arguments: ["sepia", "none", "resize=40x", "blur=1"]) func densityOfAPNGIsThatOfItsJPEG(chain: String) throws
    {
        let photo = try Samples.photoCase("dpi.png")
        #expect(try Self.density(develop(photo, chain, "format=jpeg").bytes) == Self.dpi300)
        #expect(try Self.density(develop(photo, chain, "format=jpeg; progressive").bytes) == Self.dpi300)
    }

    @Test func densityPassesThroughTIFFAndPNG() throws {
        let photo = try Samples.photoCase("dpi.png")
        for format in ["tiff", "png"] {
            let between = try develop(photo, "sepia=0", "format=\(format); effort=0").bytes
            #expect(try Self.density(develop(between, "blur=1", "format=jpeg").bytes) == Self.dpi300, "\(format)")
        }
    }

    /// Both routes from JPEG to JPEG keep the density with its unit.
    @Test(arguments: Development.Route.allCases) func densityOfAJPEGIsKept(route: Development.Route) throws {
        var file = JPEG.file(Pixels.gradient(width: 60, height: 40), .baseline)
        for density: [UInt8] in [[1, 1, 44, 1, 44], [2, 0, 118, 0, 118], [0, 0, 2, 0, 1], [1, 0, 72, 0, 150]] {
            file.replaceSubrange(13..<18, with: density)
            #expect(Array(try develop(file, by: route).bytes[13..<18]) == density)
        }
    }

    @Test func densityOfATurnedPhotoIsTurned() throws {
        var file = JPEG.file(Pixels.gradient(width: 60, height: 40), .baseline)
        file.replaceSubrange(13..<18, with: [1, 0, 72, 0, 150])
        let turned = JPEG.inserting([(0xE1, JPEG.exif(orientation: 6))], into: file)
        #expect(try Self.density(develop(turned).bytes) == [1, 0, 150, 0, 72])
    }

    /// A thumbnail shows the photo before it was changed, so none of its bytes remain.
    @Test(arguments: ["sepia", "blur=1", "rotate=90"], ["jpeg", "png", "webp"])
    func bytesOfTheThumbnailAreRemoved(chain: String, format: String) throws {
        for bigEndian in [true, false] {
            let exif = JPEG.exif(orientation: 1, thumbnail: true, bigEndian: bigEndian)
            let file = JPEG.inserting(
                [(0xE1, exif)], into: JPEG.file(Pixels.gradient(width: 60, height: 40), .baseline))
            let image = try develop(file, chain, "format=\(format)")
            #expect(!image.bytes.contains(Array("THUMBNAIL OF BEFORE".utf8)))
            #expect(image.bytes.contains(Array("Darkroom test camera".utf8)))
        }
    }
}
