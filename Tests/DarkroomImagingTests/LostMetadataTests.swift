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

    /// The tags of a BigTIFF, whose directories have another form.
    @Test(arguments: [true, false]) func exifOfABigTIFFIsKept(bigEndian: Bool) throws {
        var page = TIFFPage(
            width: 30, height: 20, colour: [10, 200, 30],
            tags: [271: .text("Maker of it"), 0x8298: .text("Ann"), 0x13B: .text("Author of the photo")])
        page.directories = [
            0x8769: [0x9003: .text("2026:01:02 03:04:05"), 0xA430: .text("Owner"), 0x8769: .long([8])],
            0x8825: [1: .text("N"), 0x1D: .text("2026:01:02")],
        ]
        for isBigTIFF in [true, false] {
            let file = TIFFPage.file([page], bigEndian: bigEndian, isBigTIFF: isBigTIFF)
            let exif = try #require(FileParts.exif(develop(file, "sepia", "format=jpeg").bytes))
            for text in ["Maker of it", "Ann", "Author of the photo", "2026:01:02 03:04:05", "Owner", "2026:01:02"] {
                #expect(exif.contains(Array(text.utf8 + [0])), "\(text)")
            }
            // Cut files may fail, but must not crash.
            for count in stride(from: 8, to: file.count, by: 7) { _ = try? develop(Array(file.prefix(count)), "sepia") }
        }
    }

    /// Entries that lead to the same directory, whose entries have the same value.
    @Test func metadataOfABigTIFFAreBounded() throws {
        var tags: [Int: TIFFPage.Value] = [:]
        for tag in 0..<120 { tags[0x9000 + tag] = .text(String(repeating: "x", count: 60_000)) }
        var page = TIFFPage(width: 30, height: 20, colour: [10, 200, 30], tags: [0x8298: .text("Ann")])
        page.directories = [0x8769: tags, 0x8825: tags]
        let file = TIFFPage.file([page], isBigTIFF: true)
        let jpeg = try develop(file, "sepia", "format=webp").bytes
        #expect(file.count > 14_000_000 && jpeg.count < 700_000)
        let isKept = jpeg.contains(Array("Ann\0".utf8))
        #expect(isKept)
        // libvips would fail on EXIF of this size.
        let classic = TIFFPage.file([page])
        #expect(try develop(classic, "sepia", "format=webp").bytes.count < 10_000)
    }

    // MARK: - IPTC

    private static let records: [UInt8] = [0x1C, 2, 25, 0, 3] + Array("cat".utf8)

    private static func resource(_ number: Int, _ bytes: [UInt8]) -> [UInt8] {
        Array("8BIM".utf8) + [UInt8(number >> 8), UInt8(number & 255), 0, 0] + PNG.bigEndian(bytes.count) + bytes
            + (bytes.count.isMultiple(of: 2) ? [] : [0])
    }

    /// The bytes of all resources of Photoshop in a JPEG.
    private static func resources(_ jpeg: [UInt8]) -> [UInt8] {
        let name = Array("Photoshop 3.0\0".utf8)
        return FileParts.segments(jpeg).filter { $0.name == "ed" && $0.bytes.starts(with: name) }
            .flatMap { $0.bytes.dropFirst(name.count) }
    }

    /// The records may have the type LONG, and are still a sequence of bytes. Some programs write only the resources.
    @Test(arguments: [true, false], [true, false]) func iptcOfATIFFIsKept(bigEndian: Bool, isBigTIFF: Bool) throws {
        let tags: [[Int: TIFFPage.Value]] = [
            [33723: .bytes(Self.records, type: 4)], [33723: .bytes(Self.records, type: 7)],
            [33723: .bytes(Self.records, type: 1)],
            [34377: .bytes(Self.resource(0x3ED, [1, 2, 3]) + Self.resource(0x404, Self.records), type: 1)],
            [33723: .bytes([0, 0, 0, 0], type: 4), 34377: .bytes(Self.resource(0x404, Self.records), type: 7)],
        ]
        for (number, tags) in tags.enumerated() {
            let page = TIFFPage(width: 30, height: 20, colour: [10, 200, 30], tags: tags)
            let file = TIFFPage.file([page], bigEndian: bigEndian, isBigTIFF: isBigTIFF)
            let jpeg = try develop(file, "sepia", "format=jpeg").bytes
            #expect(Self.resources(jpeg).contains(Self.resource(0x404, Self.records)), "\(number)")
            let again = try develop(develop(file, "sepia", "format=tiff").bytes, "sepia", "format=jpeg").bytes
            #expect(Self.resources(again).contains(Self.resource(0x404, Self.records)), "\(number)")
        }
    }

    /// The resources may go on in further segments, also within a resource.
    @Test(arguments: ["sepia", "blur=1"], [200, 60_000]) func resourcesInSeveralSegmentsAreKept(
        chain: String, count: Int
    ) throws {
        let other = Self.resource(0x40C, (0..<count).map { UInt8($0 % 251) })
        let bytes = other + Self.resource(0x404, Self.records + [0x1C, 2, 5] + PNG.bigEndian(0).dropFirst(2))
        for cut in [other.count, other.count - 10, 100, other.count + 15] {
            let segments = [bytes.prefix(cut), bytes.dropFirst(cut)].map { part in
                (code: UInt8(0xED), bytes: Array("Photoshop 3.0\0".utf8) + part)
            }
            let photo = JPEG.inserting(segments, into: JPEG.file(Pixels.gradient(width: 60, height: 40), .baseline))
            // The differences of long arrays would take minutes to print.
            let isKept = Self.resources(try develop(photo, chain).bytes) == bytes
            #expect(isKept, "\(cut)")
        }
        // More than a segment: only the records stay if the file is encoded by libvips.
        let large = Self.resource(0x40C, [UInt8](repeating: 7, count: 66_000)) + Self.resource(0x404, Self.records)
        let segments = [large.prefix(60_000), large.dropFirst(60_000)].map { part in
            (code: UInt8(0xED), bytes: Array("Photoshop 3.0\0".utf8) + part)
        }
        let photo = JPEG.inserting(segments, into: JPEG.file(Pixels.gradient(width: 60, height: 40), .baseline))
        let kept = chain == "sepia" ? large : Self.resource(0x404, Self.records)
        let isKept = Self.resources(try develop(photo, chain).bytes) == kept
        #expect(isKept)
    }

    // MARK: - PNG and JPEG XL

    @Test func textsAfterThePixelsOfAPNGAreKept() throws {
        let texts = [("tEXt", "Author\0Ann"), ("tEXt", "Comment\0early"), ("tEXt", "Comment\0late")].map {
            (type: $0.0, bytes: Array($0.1.utf8))
        }
        let photo = PNG.file(
            Pixels.gradient(width: 60, height: 40), chunks: [texts[1]],
            late: [texts[0], texts[2], ("zTXt", Array("Title\0\0".utf8) + PNG.compressed(Array("of it".utf8)))])
        for chain in ["sepia", "resize=30x"] {
            let found = try PNG.texts(of: develop(photo, chain).bytes)
            #expect(found.sorted() == ["Author=Ann", "Comment=early", "Comment=late", "Title=of it"])
            #expect(try !develop(photo, chain, "metadata=copyright").bytes.contains(Array("Ann".utf8)))
        }
    }

    @Test func pngWithMoreTextsThanAreKeptIsDeveloped() throws {
        let texts = (0..<3000).map { (type: "tEXt", bytes: Array("Comment\0\($0)".utf8)) }
        let photo = PNG.file(Pixels.gradient(width: 60, height: 40), late: texts)
        let found = try PNG.texts(of: develop(photo, "sepia").bytes)
        #expect(Set(found) == Set((0..<1000).map { "Comment=\($0)" }))
    }

    /// Some programs write the chunk as it is in a JPEG.
    @Test(arguments: [true, false]) func exifOfAPNGMayBeginAsInAJPEG(isLate: Bool) throws {
        let exif = EXIF.complete(bigEndian: true)
        let pixels = Pixels.gradient(width: 60, height: 40)
        let chunk = (type: "eXIf", bytes: exif)
        let photo = isLate ? PNG.file(pixels, late: [chunk]) : PNG.file(pixels, chunks: [chunk])
        let found = try #require(FileParts.exif(develop(photo, "sepia", "format=jpeg").bytes))
        #expect(found.contains(Array("Copyright of Ann\0".utf8)))
    }

    /// A stream of Brotli that is not compressed (RFC 7932, 9.2), of at most 65,536 bytes.
    private static func brotli(_ bytes: [UInt8]) -> [UInt8] {
        let header = (bytes.count - 1) << 4 | 1 << 20
        var stream = (0..<3).map { place in UInt8(header >> (8 * place) & 255) }
        stream += bytes
        stream.append(3)
        return stream
    }

    private static func box(_ type: String, _ bytes: [UInt8]) -> [UInt8] {
        PNG.bigEndian(bytes.count + 8) + Array(type.utf8) + bytes
    }

    private static let jxlStart =
        box("JXL ", [0x0D, 0x0A, 0x87, 0x0A]) + box("ftyp", Array("jxl \0\0\0\0jxl ".utf8))

    /// Damaged boxes of metadata, which may be anywhere in a JPEG XL file.
    private static let damagedBoxes: [[UInt8]] = [
        box("Exif", []), box("Exif", [0, 0]), box("Exif", [0xFF, 0xFF, 0xFF, 0xFF, 1]), box("brob", []),
        box("brob", Array("Exif".utf8) + [0xFF, 0xFF]),
    ]
    /// Bytes after the picture of a JPEG XL file that are not a complete box, or whose box goes on to the end of the file.
    private static let damagedEnds: [[UInt8]] = [
        PNG.bigEndian(1) + Array("brob".utf8) + [UInt8](repeating: 0, count: 8) + Array("xml ".utf8) + [0xFF, 0xFF],
        PNG.bigEndian(200) + Array("brobxml ".utf8) + brotli([1, 2, 3]), PNG.bigEndian(200) + Array("xml <x>".utf8),
        PNG.bigEndian(5) + Array("brob".utf8), [1, 2, 3], PNG.bigEndian(0) + Array("brobxml ".utf8) + [0xFF],
    ]

    @Test func damagedMetadataOfJPEGXLAreNoDefect() throws {
        let encoded = try develop(
            PNG.file(Pixels.gradient(width: 60, height: 40)), "sepia=0", "format=jxl; metadata=none"
        ).bytes
        let picture = Self.box("jxlc", encoded)
        let sound = try develop(Self.jxlStart + picture, "sepia", "format=png").bytes
        for (number, box) in Self.damagedBoxes.enumerated() {
            for file in [Self.jxlStart + box + picture, Self.jxlStart + picture + box] {
                #expect(try develop(file, "sepia", "format=png").bytes == sound, "box \(number)")
            }
        }
        for (number, end) in Self.damagedEnds.enumerated() {
            let file = Self.jxlStart + picture + end
            #expect(try develop(file, "sepia", "format=png").bytes == sound, "end \(number)")
        }
        // The box of the picture may go on to the end of the file.
        let toTheEnd = Self.jxlStart + PNG.bigEndian(0) + Array("jxlc".utf8) + encoded
        #expect(try develop(toTheEnd, "sepia", "format=png").bytes == sound)
        let cut = Self.jxlStart + Self.box("jxlc", encoded).dropLast(encoded.count / 2)
        #expect(throws: (any Error).self) { try develop(cut, "sepia", "format=png") }
    }

    /// Encoders of JPEG XL compress EXIF and XMP.
    @Test(arguments: [true, false]) func packedMetadataOfJPEGXLAreKept(isDamaged: Bool) throws {
        let picture = PNG.file(Pixels.gradient(width: 60, height: 40))
        let encoded = try develop(picture, "sepia=0", "format=jxl; metadata=none").bytes
        #expect(encoded.starts(with: [0xFF, 0x0A]), "a picture without boxes")
        let xmp = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF xmlns:rdf=\"urn:r\"><a/></rdf:RDF></x:xmpmeta>"
        let exif = [0, 0, 0, 0] + EXIF.complete(bigEndian: true).dropFirst(6)
        var packed = [Array("Exif".utf8) + Self.brotli(exif), Array("xml ".utf8) + Self.brotli(Array(xmp.utf8))]
        if isDamaged { packed = packed.flatMap { [$0.prefix(4) + [0xFF, 0xFF], Array($0.prefix(9)), $0] } }
        let file = Self.jxlStart + packed.flatMap { Self.box("brob", $0) } + Self.box("jxlc", encoded)
        let jpeg = try develop(file, "sepia", "format=jpeg").bytes
        let found = FileParts.exif(jpeg)
        #expect(found?.contains(Array("Copyright of Ann\0".utf8)) == true)
        #expect(FileParts.xmp(jpeg)?.contains("<a/>") == (isDamaged ? nil : true))
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
