import DarkroomRecipes
import Testing

@testable import DarkroomImaging

/// Raw files of cameras, which Darkroom must not develop from the small picture that they contain.
@Suite struct RawFormatTests {
    private static let thumbnail = TIFFPage(width: 16, height: 12, colour: [200, 30, 30], tags: [254: .long([1])])
    private static let sensor = TIFFPage(
        width: 40, height: 30, bands: 1, bits: 8, photometric: 32803, samples: [UInt8](repeating: 9, count: 1200))

    private static func problem(_ bytes: [UInt8], _ body: ([UInt8]) throws -> Void) -> ImagingError? {
        do {
            try body(bytes)
            return nil
        } catch {
            return error as? ImagingError
        }
    }

    /// Expects the same failure on each route.
    private func expectRaw(_ bytes: [UInt8], _ name: String, _ comment: String = "") {
        let routes: [(String, ([UInt8]) throws -> Void)] = [
            ("kept", { _ = try develop($0, "none") }),
            ("strips", { _ = try develop($0, "sepia", "format=jpeg") }),
            ("thumbnail", { _ = try develop($0, "resize=8x8", "format=jpeg; metadata=none") }),
            ("accepted damage", { _ = try develop($0, "sepia", damage: .accept) }),
            ("pixels", { _ = try Imaging.pixels(of: $0) }),
            (
                "comparison",
                { _ = try compared($0, develop(TIFFPage.file([Self.thumbnail])), damage: .tolerate) }
            ),
        ]
        for (route, body) in routes {
            let error = Self.problem(bytes, body)
            #expect(error?.code == .unsupportedFormat, "\(name), \(route) \(comment): \(String(describing: error))")
            #expect(error?.detail.contains("found \(name), a raw format") == true, "\(route) \(comment): \(error!)")
        }
        #expect(bytes.withUnsafeBytes { ImageFormat(contentOf: $0) } == nil)
    }

    @Test(arguments: [
        ("Fujifilm RAF", 0, "FUJIFILMCCD-RAW 0201FF383501X-Pro1"), ("Sigma X3F", 0, "FOVb"),
        ("Minolta MRW", 0, "\0MRM"), ("Canon CRW", 0, "II\u{1A}\0\0\0HEAPCCDR"),
        ("Canon CR2", 0, "II*\0\u{10}\0\0\0CR\u{2}\0"),
        ("Canon CR3", 0, "\0\0\0\u{18}ftypcrx \0\0\0\u{1}crx isom"), ("Olympus ORF", 0, "IIRO\u{8}\0\0\0"),
        ("Olympus ORF", 0, "IIRS\u{8}\0\0\0"), ("Olympus ORF", 0, "MMOR\0\0\0\u{8}"),
        ("Panasonic RW2", 0, "IIU\0\u{18}\0\0\0"), ("Phase One IIQ", 0, "II*\0\u{8}\0\0\0IIIITwaR"),
        ("Phase One IIQ", 0, "MM\0*\0\0\0\u{8}MMMMRawT"),
    ])
    func signatureIsRecognised(name: String, offset: Int, start: String) {
        expectRaw(Array(start.utf8) + [UInt8](repeating: 0, count: 200), name)
    }

    @Test(arguments: [
        ("NIKON CORPORATION", "Nikon NEF"), ("SONY", "Sony ARW"), ("Canon", "Canon CR2"), ("PENTAX", "Pentax PEF"),
        ("RICOH IMAGING COMPANY, LTD.", "Pentax PEF"), ("SAMSUNG", "Samsung SRW"), ("Hasselblad", "Hasselblad 3FR"),
        ("OLYMPUS IMAGING CORP.", "Olympus ORF"), ("Panasonic", "Panasonic RW2"), ("LEICA CAMERA AG", "Leica RWL"),
        ("EASTMAN KODAK COMPANY", "Kodak DCR"), ("SEIKO EPSON CORP.", "Epson ERF"),
        ("Mamiya-OP Co.,Ltd.", "Mamiya MEF"),
        ("Nobody", "camera raw"),
    ])
    func rawTIFFIsNamedByItsMaker(make: String, name: String) {
        for (bigEndian, isBigTIFF) in [(false, false), (true, false), (false, true), (true, true)] {
            var first = Self.thumbnail
            first.tags[271] = .text(make)
            let comment = "big-endian \(bigEndian), BigTIFF \(isBigTIFF)"
            func file(_ pages: [TIFFPage]) -> [UInt8] {
                TIFFPage.file(pages, bigEndian: bigEndian, isBigTIFF: isBigTIFF)
            }
            expectRaw(file([first, Self.sensor]), name, comment)
            var sensor = Self.sensor
            sensor.tags[271] = .text(make)
            expectRaw(file([sensor]), name, comment)
            first.subIFDs = [TIFFPage(width: 20, height: 15, colour: [9, 9, 9], tags: [254: .long([1])]), Self.sensor]
            expectRaw(file([first]), name, comment)
        }
    }

    @Test(arguments: [262, 32767, 32769, 32770, 32772, 34713, 65000, 65535])
    func compressionOfACameraIsRecognised(compression: Int) {
        var first = Self.thumbnail
        first.subIFDs = [TIFFPage(width: 40, height: 30, colour: [1], tags: [259: .short([compression])])]
        expectRaw(TIFFPage.file([first]), "camera raw")
    }

    @Test func dngIsRecognisedByItsTag() {
        var page = Self.thumbnail
        page.tags[50706] = .long([0x0000_0401])
        expectRaw(TIFFPage.file([page]), "DNG")
        page.tags[271] = .text("NIKON")
        page.subIFDs = [Self.sensor]
        expectRaw(TIFFPage.file([page], bigEndian: true), "DNG")
    }

    /// Photos that a program made of a raw file.
    @Test func tiffOfACameraMakerIsDeveloped() throws {
        let page = TIFFPage(width: 16, height: 12, colour: [200, 30, 30], tags: [271: .text("NIKON CORPORATION")])
        let image = try develop(TIFFPage.file([page]), "none", "format=png")
        #expect(try PNG.pixels(of: image.bytes)[8, 6] == [200, 30, 30])
    }

    /// A watermark is a picture, too.
    @Test func rawFileIsNoWatermark() throws {
        let watermark = try Filter(parsing: "watermark=image:logo.nef")
        var options = DevelopOptions(filters: [watermark], format: .png)
        options.overlays = [watermark: TIFFPage.file([Self.thumbnail, Self.sensor])]
        let photo = TIFFPage.file([TIFFPage(width: 16, height: 12, colour: [200, 30, 30])])
        let error = Self.problem(photo) { _ = try develop($0, options) }
        #expect(error?.detail.contains("camera raw") == true, "\(String(describing: error))")
    }
}
