import DarkroomRecipes
import Testing

@testable import DarkroomImaging

@Suite struct WideGamutTests {
    private static let colours = [[180, 90, 60], [60, 150, 70], [70, 80, 170], [200, 200, 200]]
    private static let pixels = Pixels(width: 64, height: 48, bands: 3) { x, y, band in
        colours[(y < 24 ? 0 : 2) + (x < 32 ? 0 : 1)][band]
    }

    // Not written in the arguments of `@Test`, because Swift 6.0 cannot compile a closure there.
    private static let formatsWithProfile = ImageFormat.allCases.filter { $0 != .gif && $0 != .jxl }

    /// A PNG whose colours have the profile.
    private static let png = PNG.file(pixels, chunks: [PNG.profile(MatrixProfile.p3)])

    private static func near(_ found: [[Int]], _ expected: [[Int]], within tolerance: Int) -> Bool {
        zip(found, expected).allSatisfy { zip($0, $1).allSatisfy { abs($0 - $1) <= tolerance } }
    }

    @Test(arguments: formatsWithProfile) func profileIsKept(format: ImageFormat)
        throws
    {
        let image = try develop(Self.png, "none", "format=\(format.rawValue); quality=95")
        let quarters = FormatGridTests.quarters(try decoded(image.bytes))
        #expect(Self.near(quarters, Self.colours, within: 6), "\(quarters)")
        // PNG compresses the profile, so the test searches a JPEG of the picture for the profile.
        let jpeg = try develop(image.bytes, "none", "format=jpeg; quality=100").bytes
        #expect(jpeg.contains(MatrixProfile.p3))
    }

    @Test(arguments: ImageFormat.allCases) func srgbConvertsTheColours(format: ImageFormat) throws {
        let expected = Self.colours.map(MatrixProfile.inSRGB)
        #expect(!Self.near(expected, Self.colours, within: 6), "the test must see a difference")
        for chain in ["none", "resize=32x"] {
            let image = try develop(Self.png, chain, "format=\(format.rawValue); quality=95; srgb")
            let quarters = FormatGridTests.quarters(try decoded(image.bytes))
            #expect(Self.near(quarters, expected, within: format == .png ? 2 : 6), "\(quarters), \(expected)")
            // Without a profile, the colours are those of sRGB, too. The decoder of JPEG XL adds a profile.
            let jpeg = try develop(image.bytes, "none", "format=jpeg; quality=100").bytes
            #expect(format == .jxl || !jpeg.contains(Array("ICC_PROFILE".utf8)))
        }
    }

    /// GIF has no profiles, so the colours would be wrong without a conversion.
    @Test(arguments: ["gif"]) func formatsWithoutProfilesGetSRGB(format: String) throws {
        let quarters = FormatGridTests.quarters(try decoded(develop(Self.png, "none", "format=\(format)").bytes))
        #expect(Self.near(quarters, Self.colours.map(MatrixProfile.inSRGB), within: 6), "\(quarters)")
    }

    @Test func srgbIsAppliedBeforeTheProfileIsRemoved() throws {
        let image = try develop(Self.png, "none", "format=png; srgb; metadata=none")
        let quarters = FormatGridTests.quarters(try decoded(image.bytes))
        #expect(Self.near(quarters, Self.colours.map(MatrixProfile.inSRGB), within: 2), "\(quarters)")
        #expect(!image.bytes.contains(Array("iCCP".utf8)))
    }

    /// Operations in Swift see no profile.
    @Test func pixelsForOperationsAreConvertedToSRGB() throws {
        let buffer = try Imaging.pixels(of: Self.png)
        let found = Pixels(width: 64, height: 48, bands: 3, values: buffer.samples)
        let expected = Self.colours.map(MatrixProfile.inSRGB)
        #expect(Self.near(FormatGridTests.quarters(found), expected, within: 1))
    }
}
