import CZlib
import DarkroomRecipes
import Testing

@testable import DarkroomImaging

@Suite struct WideGamutTests {
    private static let colours = [[180, 90, 60], [60, 150, 70], [70, 80, 170], [200, 200, 200]]
    private static let pixels = Pixels(width: 64, height: 48, bands: 3) { x, y, band in
        colours[(y < 24 ? 0 : 2) + (x < 32 ? 0 : 1)][band]
    }

    /// A PNG whose colours have the profile.
    private static let png: [UInt8] = {
        var packed = [UInt8](repeating: 0, count: Int(compressBound(UInt(MatrixProfile.p3.count))))
        var size = UInt(packed.count)
        precondition(compress(&packed, &size, MatrixProfile.p3, UInt(MatrixProfile.p3.count)) == Z_OK)
        return PNG.file(pixels, chunks: [("iCCP", Array("p3\0\0".utf8) + packed.prefix(Int(size)))])
    }()

    private static func near(_ found: [[Int]], _ expected: [[Int]], within tolerance: Int) -> Bool {
        zip(found, expected).allSatisfy { zip($0, $1).allSatisfy { abs($0 - $1) <= tolerance } }
    }

    @Test(arguments: ImageFormat.allCases.filter { $0 != .gif && $0 != .jxl }) func profileIsKept(format: ImageFormat)
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
            #expect(!(try develop(image.bytes, "none", "format=jpeg; quality=100").bytes.contains(MatrixProfile.p3)))
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
}
