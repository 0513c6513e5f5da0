import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

/// Metadata that libvips itself would lose.
@Suite struct LostMetadataTests {
    /// Every tag of EXIF stays, also those that libexif does not know, and the maker note, at its old position.
    @Test(arguments: ["sepia", "blur=1", "resize=40x", "flip"], ["jpeg", "png", "webp", "avif", "heic", "jxl"])
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

    /// The values of a TIFF have the order of bytes of the machine, those of a photo may have the other.
    @Test(arguments: [true, false]) func exifAndIPTCPassThroughTIFF(bigEndian: Bool) throws {
        let records: [UInt8] = [0x1C, 2, 25, 0, 3] + Array("cat".utf8)
        let resources =
            Array("Photoshop 3.0\0".utf8) + Array("8BIM".utf8) + [4, 4, 0, 0, 0, 0, 0, UInt8(records.count)] + records
        let photo = JPEG.inserting(
            [(0xE1, EXIF.complete(bigEndian: bigEndian)), (0xED, resources)],
            into: JPEG.file(Pixels.gradient(width: 60, height: 40), .baseline))
        for chain in ["sepia", "resize=30x"] {
            let tiff = try develop(photo, chain, "format=tiff").bytes
            let jpeg = try develop(tiff, "sepia=0", "format=jpeg").bytes
            let exif = try #require(FileParts.exif(jpeg))
            for text in [
                "Model of the camera", "Ann Author", "Copyright of Ann", "2026:01:02 03:04:05", "Owner of the camera",
                "GPS secret method", "GPS secret of no name",
            ] {
                #expect(exif.contains(Array(text.utf8 + [0])), "\(text)")
            }
            #expect(FileParts.segments(jpeg).contains { $0.bytes.starts(with: resources) })
            // The degrees of the position.
            let degrees = [0x5EC4E7].flatMap { number in (0..<4).map { UInt8(number >> (8 * $0) & 255) } }
            #expect(exif.contains(degrees + [1, 0, 0, 0]))
            let selected = try develop(tiff, "sepia=0", "format=jpeg; metadata=copyright").bytes
            #expect(selected.contains(Array("Ann Author".utf8)) && selected.contains(Array("Copyright of Ann".utf8)))
            #expect(!selected.contains(Array("Model of".utf8)) && !selected.contains(Array("cat".utf8)))
        }
    }

    /// Directories that lead to themselves, out of the file, or have entries without values.
    @Test(arguments: [0, 4, 8, 0x20, 0x7FFF_FFFF, 0xFFFF_FFFF]) func damagedEXIFOfATIFFIsBounded(offset: Int) throws {
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
            [(tag, 2), (type, 2), (count, 4), (value, 4)].flatMap { number, bytes in
                (0..<bytes).map { UInt8(number >> (8 * $0) & 255) }
            }
        }
        for type in [0, 2, 4, 5, 13, 77] {
            for count in [0, 1, 5, 0x1FFF_FFFF, 0xFFFF_FFFF] {
                let entries = (0..<4000).map { entry(0x8000 + $0, type, count, offset) }
                let tags = [entry(0x13B, type, count, offset), entry(0x8769, 4, 1, offset), entry(0x8825, 4, 1, 8)]
                let head = Array("Exif\0\0II*\0".utf8) + [8, 0, 0, 0] + [UInt8(4003 & 255), UInt8(4003 >> 8)]
                let exif =
                    head
                    + tags.joined() + entries.joined() + [0, 0, 0, 0]
                let jpeg = JPEG.inserting(
                    [(0xE1, Array(exif.prefix(60_000)))],
                    into: JPEG.file(Pixels.gradient(width: 9, height: 9), .baseline))
                let tiff = try develop(jpeg, "sepia", "format=tiff").bytes
                #expect(tiff.count < 500_000)
                #expect(try develop(tiff, "sepia=0", "format=jpeg").bytes.count < 200_000)
            }
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
