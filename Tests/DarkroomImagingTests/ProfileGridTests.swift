import CImagingProbes
import DarkroomRecipes
import Testing

@testable import DarkroomImaging

/// The profile in a file describes the pixels of the file, whatever the photo was.
@Suite struct ProfileGridTests {
    struct Photo: CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        var testDescription: String { name }
    }

    private static let colours = [[180, 90, 60], [60, 150, 70], [70, 80, 170], [200, 200, 200]]

    private static func quarter(_ x: Int, _ y: Int) -> Int { (y < 24 ? 0 : 2) + (x < 32 ? 0 : 1) }
    private static let rgb = Pixels(width: 64, height: 48, bands: 3) { colours[quarter($0, $1)][$2] }
    private static let grey = Pixels(width: 64, height: 48, bands: 1) { x, y, _ in [40, 100, 170, 230][quarter(x, y)] }
    private static let cmyk = Pixels(width: 64, height: 48, bands: 4) { x, y, band in
        band == 3 ? 20 : 255 - colours[quarter(x, y)][band]
    }

    private static func builtin(_ name: String) -> [UInt8] {
        var profile = [UInt8](repeating: 0, count: 1 << 20)
        let count = builtin_profile(name, &profile, profile.count)
        precondition(count > 0, "libvips has no profile \(name)")
        return Array(profile.prefix(count))
    }

    private static let p3 = MatrixProfile.p3
    /// A profile whose table of tags names places beyond its end.
    private static let broken = Array(MatrixProfile.p3.prefix(300)) + [UInt8](repeating: 0, count: 20)
    /// The header of a profile of the class "link", which does not describe pixels.
    private static let link: [UInt8] = {
        var profile = MatrixProfile.p3
        profile.replaceSubrange(12..<16, with: Array("link".utf8))
        return profile
    }()

    /// A JPEG with a profile in segments of at most 65,519 bytes (ICC.1, B.4). `part` leaves the others out.
    private static func jpeg(_ pixels: Pixels, _ kind: JPEG.Kind, _ profile: [UInt8] = [], onlyFirst: Bool = false)
        -> [UInt8]
    {
        let parts = stride(from: 0, to: profile.count, by: 65519).map {
            Array(profile[$0..<min($0 + 65519, profile.count)])
        }
        let segments = parts.enumerated().map { number, part in
            (
                code: UInt8(0xE2),
                bytes: Array("ICC_PROFILE\0".utf8) + [UInt8(number + 1), UInt8(onlyFirst ? 9 : parts.count)] + part
            )
        }
        return JPEG.inserting(segments, into: JPEG.file(pixels, kind, quality: 97))
    }

    private static let photos: [Photo] = {
        let inks = Pixels(width: 64, height: 48, bands: 4, values: cmyk.values.map { 255 - $0 })
        let inkProfile = builtin("cmyk")
        let files: [(String, [UInt8])] = [
            ("CMYK JPEG", jpeg(inks, .cmyk)), ("CMYK JPEG with its profile", jpeg(inks, .cmyk, inkProfile)),
            ("CMYK JPEG with a profile for RGB", jpeg(inks, .cmyk, p3)),
            ("CMYK TIFF", TIFF.file(cmyk, .cmyk)),
            ("CMYK TIFF with its profile", TIFF.file(cmyk, .cmyk, profile: inkProfile)),
            ("CMYK TIFF with a profile for grey", TIFF.file(cmyk, .cmyk, profile: GreyProfile.linear)),
            ("grey JPEG", jpeg(grey, .grey)), ("grey JPEG with its profile", jpeg(grey, .grey, GreyProfile.linear)),
            ("grey JPEG with a profile for RGB", jpeg(grey, .grey, p3)),
            ("grey PNG with its profile", PNG.file(grey, chunks: [PNG.profile(GreyProfile.linear)])),
            ("grey TIFF with its profile", TIFF.file(grey, .grey, profile: GreyProfile.linear)),
            ("grey TIFF with a profile for RGB", TIFF.file(grey, .grey, profile: p3)),
            ("RGB JPEG", jpeg(rgb, .fullColour)), ("RGB JPEG with its profile", jpeg(rgb, .fullColour, p3)),
            ("RGB JPEG with a profile for CMYK", jpeg(rgb, .fullColour, inkProfile)),
            ("RGB JPEG with a part of a profile", jpeg(rgb, .fullColour, p3, onlyFirst: true)),
            ("RGB JPEG with a broken profile", jpeg(rgb, .fullColour, broken)),
            ("RGB JPEG with a profile for grey", jpeg(rgb, .fullColour, GreyProfile.linear)),
            ("RGB JPEG with a link", jpeg(rgb, .fullColour, link)),
            ("RGB PNG with its profile", PNG.file(rgb, chunks: [PNG.profile(p3)])),
            ("RGB TIFF with its profile", TIFF.file(rgb, .rgb, profile: p3)),
            ("RGB TIFF with a profile for CMYK", TIFF.file(rgb, .rgb, profile: inkProfile)),
            ("RGB TIFF with a profile for grey", TIFF.file(rgb, .rgb, profile: GreyProfile.linear)),
            (
                "Lab TIFF",
                TIFF.file(Pixels(width: 64, height: 48, bands: 3) { _, _, band in [120, 20, 10][band] }, .lab)
            ),
        ]
        return files.map { Photo(name: $0, bytes: $1) }
    }()

    /// The signature of the colour space that a file's profile describes, and the one of its pixels. Nil without a profile.
    private static func spaces(_ file: [UInt8]) throws -> (profile: String, pixels: String)? {
        var colours = file_colours()
        try #require(file_colours(file, file.count, &colours))
        guard colours.has_profile else { return nil }
        let profile = withUnsafeBytes(of: colours.profile_space) { String(decoding: $0, as: UTF8.self) }
        return (profile, colours.is_cmyk ? "CMYK" : colours.bands <= 2 ? "GRAY" : "RGB ")
    }

    /// The colours in sRGB.
    private static func shown(_ file: [UInt8]) throws -> [[Int]] {
        FormatGridTests.quarters(try PNG.pixels(of: develop(file, "sepia=0", "format=png; srgb").bytes))
    }

    @Test(arguments: photos, ImageFormat.allCases) func profileDescribesThePixels(photo: Photo, format: ImageFormat)
        throws
    {
        let expected = try Self.shown(photo.bytes)
        for chain in ["none", "sepia=0", "resize=32x"] {
            for settings in chain == "none" ? ["", "; srgb", "; metadata=none", "; metadata=icc"] : [""] {
                let text = "format=\(format.rawValue); quality=95; effort=0\(settings)"
                let comment = "\(photo.name), \(chain), \(text)"
                let filters = try [PhotoFilter](parsing: chain).builtIn
                let output = ImageOutput(filters: filters, encoding: try PhotoEncoding(parsing: text))
                for route in Development.Route.allCases where route == .usual || format == .jpeg {
                    let image = try develop(photo.bytes, DevelopOptions(outputs: [output]), by: route).bytes
                    // A photo that needs no change is kept with its profile.
                    if image == photo.bytes { continue }
                    let spaces = try Self.spaces(image)
                    #expect(spaces?.profile == spaces?.pixels, "\(comment)")
                    let shown = try Self.shown(image)
                    let isNear = zip(shown, expected).allSatisfy { found, expected in
                        zip(found, expected).allSatisfy { abs($0 - $1) <= 8 }
                    }
                    #expect(isNear, "\(comment): \(shown), expected \(expected)")
                }
            }
        }
    }

    /// The profile of libvips for CMYK was attached to RGB pixels: 961,644 bytes.
    @Test(arguments: ImageFormat.allCases) func cmykWithoutProfileGetsNone(format: ImageFormat) throws {
        let image = try develop(TIFF.file(Self.cmyk, .cmyk), "sepia=0", "format=\(format.rawValue)")
        #expect(image.byteCount < 20_000)
        // The decoder of JPEG XL adds a profile for sRGB.
        let spaces = try Self.spaces(image.bytes)
        #expect(format == .jxl || spaces == nil)
    }
}
