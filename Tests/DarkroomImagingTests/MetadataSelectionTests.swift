import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

@Suite struct MetadataSelectionTests {
    /// The kinds of metadata, and a text that only they contain.
    private enum Part: String, CaseIterable {
        case camera = "Model of the camera"
        case author = "Ann Author"
        case copyright = "Copyright of Ann"
        case date = "2026:01:02 03:04:05"
        case owner = "Owner of the camera"
        case position = "\u{5E}\u{C4}"
        case method = "GPS secret method"
        case nameless = "GPS secret of no name"
        case xmp = "kept by darkroom"
        case xmpPosition = "exif:GPSLatitude=\"48,51N\""
        case iptc = "Caption of darkroom"
        case icc = "ICC_PROFILE"

        func isIn(_ file: [UInt8]) -> Bool {
            // The degrees of the position are rare numbers, in either order of bytes.
            if self == .position {
                return file.contains([0x5E, 0xC4, 0xE7]) || file.contains([0xE7, 0xC4, 0x5E])
            }
            return file.contains(Array(rawValue.utf8))
        }
    }

    private static let exif: Set<Part> = [.camera, .author, .copyright, .date, .owner]
    private static let gps: Set<Part> = [.position, .method, .nameless]

    private static let pixels = Pixels(width: 48, height: 32, bands: 3) { x, y, band in (x + 2 * y + 20 * band) & 255 }

    /// A JPEG with all metadata; `hasPosition`: with a position in XMP.
    private static func photo(bigEndian: Bool = true, xmpHasPosition: Bool = false) -> [UInt8] {
        let attribute = xmpHasPosition ? " " + Part.xmpPosition.rawValue : ""
        let xmp = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"\(attribute)>\(Part.xmp.rawValue)</x:xmpmeta>"
        let caption = Array(Part.iptc.rawValue.utf8)
        // An image resource of Photoshop with one IPTC record, 2:120.
        let record: [UInt8] = [0x1C, 2, 120, 0, UInt8(caption.count)] + caption
        let iptc =
            Array("Photoshop 3.0\0".utf8) + Array("8BIM".utf8) + [4, 4, 0, 0, 0, 0, 0, UInt8(record.count)] + record
        let icc = Array("ICC_PROFILE\0\u{1}\u{1}".utf8) + MatrixProfile.p3
        return JPEG.inserting(
            [
                (0xE1, EXIF.complete(bigEndian: bigEndian)), (0xE1, Array("http://ns.adobe.com/xap/1.0/\0\(xmp)".utf8)),
                (0xED, iptc), (0xE2, icc),
            ], into: JPEG.file(pixels, .baseline))
    }

    /// The parts that are in a file of any format.
    private static func parts(_ image: ImageFile) throws -> Set<Part> {
        // PNG compresses some of them, and the other formats have other markers, so all become a JPEG.
        let jpeg = image.format == .jpeg ? image.bytes : try develop(image.bytes, "sepia=0", "format=jpeg").bytes
        return Set(Part.allCases.filter { $0.isIn(jpeg) })
    }

    /// The kinds of metadata of a format.
    private static func supported(_ format: ImageFormat) -> Set<Part> {
        let all = exif.union(gps).union([.xmp, .iptc, .icc])
        return switch format {
        case .jpeg: all
        case .png: all.subtracting([.iptc])
        case .webp, .avif, .heic, .jxl: all.subtracting([.iptc])
        case .tiff: all
        case .gif: []
        }
    }

    private static let selections: [(String, Set<Part>)] = [
        ("all", exif.union(gps).union([.xmp, .iptc, .icc])), ("none", []), ("no-gps", exif.union([.xmp, .iptc, .icc])),
        ("copyright", [.author, .copyright]), ("icc", [.icc]), ("copyright,icc", [.author, .copyright, .icc]),
        ("exif", exif.union(gps)), ("exif,no-gps", exif), ("xmp", [.xmp]), ("iptc", [.iptc]),
        ("xmp,iptc", [.xmp, .iptc]),
    ]

    @Test(arguments: ImageFormat.allCases, selections.map(\.0))
    func onlyTheSelectedMetadataIsKept(format: ImageFormat, selection: String) throws {
        let expected = try #require(Self.selections.first { $0.0 == selection }).1
        for bigEndian in [true, false] {
            let image = try develop(
                Self.photo(bigEndian: bigEndian), "flip", "format=\(format.rawValue); metadata=\(selection)")
            let found = try Self.parts(image)
            // JPEG XL always has a description of its colours.
            let ignored: Set<Part> = format == .jxl ? [.icc] : []
            #expect(
                found.subtracting(ignored) == expected.intersection(Self.supported(format)).subtracting(ignored),
                "\(format), \(selection)")
        }
    }

    @Test(arguments: ["sepia", "none", "resize=24x"]) func jpegToJPEGKeepsTheSelectedMetadata(chain: String) throws {
        for (selection, expected) in Self.selections where selection != "all" {
            let image = try develop(Self.photo(), chain, "metadata=\(selection)")
            #expect(try Self.parts(image) == expected, "\(selection)")
            if expected.isEmpty {
                #expect(image.bytes.prefix(4) != [0xFF, 0xD8, 0xFF, 0xE1], "no EXIF")
                #expect(!image.bytes.contains(Array("Exif\0".utf8)))
            }
        }
    }

    @Test(arguments: ImageFormat.allCases) func xmpWithAPositionIsRemovedWithoutGPS(format: ImageFormat) throws {
        let photo = Self.photo(xmpHasPosition: true)
        for selection in ["no-gps", "xmp,no-gps", "exif,xmp,no-gps", "copyright,iptc"] {
            let image = try develop(photo, "resize=24x", "format=\(format.rawValue); metadata=\(selection)")
            #expect(try Self.parts(image).isDisjoint(with: Self.gps.union([.xmp, .xmpPosition])), "\(selection)")
        }
        let kept = try Self.parts(develop(photo, "resize=24x", "format=\(format.rawValue)"))
        #expect(kept.contains(.xmpPosition) == Self.supported(format).contains(.xmp))
    }

    /// Texts of PNG may contain anything, such as EXIF in hexadecimal digits.
    @Test func textsOfPNGAreRemovedUnlessAllMetadataIsKept() throws {
        let text = Array("Comment\0text of a PNG".utf8)
        let file = PNG.file(Self.pixels, chunks: [("tEXt", text)])
        for selection in ["none", "no-gps", "exif", "copyright"] {
            let image = try develop(file, "sepia", "metadata=\(selection)")
            #expect(!image.bytes.contains(Array("text of a PNG".utf8)), "\(selection)")
        }
    }

    /// If the profile is removed, its colours become those of sRGB.
    @Test(arguments: ["none", "copyright", "exif"], ["sepia=0", "none", "resize=32x"])
    func coloursAreConvertedIfTheProfileIsRemoved(selection: String, chain: String) throws {
        let plain = Pixels(width: 64, height: 48, bands: 3) { _, _, band in [180, 90, 60][band] }
        let profile = Array("ICC_PROFILE\0\u{1}\u{1}".utf8) + MatrixProfile.p3
        let photo = JPEG.inserting([(0xE2, profile)], into: JPEG.file(plain, .baseline))
        let image = try develop(photo, chain, "metadata=\(selection)")
        let colour = FormatGridTests.quarters(try decoded(image.bytes))[0]
        let expected = MatrixProfile.inSRGB([180, 90, 60])
        #expect(zip(colour, expected).allSatisfy { abs($0 - $1) <= 4 }, "\(colour), \(expected)")
        #expect(!image.bytes.contains(MatrixProfile.p3))
    }
}
