import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

@Suite struct ColourTests {
    private static let options = DevelopOptions(filters: [.sepia(intensity: 0)], format: .png)

    private static func near(_ found: [Int], _ expected: [Int], within tolerance: Int) -> Bool {
        found.count == expected.count && zip(found, expected).allSatisfy { abs($0 - $1) <= tolerance }
    }

    @Test(arguments: [8, 16]) func greyWithAProfileIsConvertedToSRGBFirst(bits: Int) throws {
        let top = bits == 16 ? 65535 : 255
        let input = Pixels(width: 5, height: 1, bands: 1, bits: bits) { x, _, _ in x * top / 4 }
        let file = TIFF.file(input, .grey, profile: GreyProfile.linear)
        let pixels = try PNG.pixels(of: develop(file, Self.options).bytes)
        // In sRGB, level 188 of 255 is half of the light, level 137 a quarter, and level 225 three quarters.
        for (x, level) in [0, 137, 188, 225, 255].enumerated() {
            let scaled = bits == 16 ? level * 257 : level
            #expect(Self.near(pixels[x, 0], [scaled, scaled, scaled], within: top / 100), "\(pixels[x, 0])")
        }
    }

    @Test func greyJPEGWithAProfileIsConvertedToSRGBFirst() throws {
        let grey = JPEG.file(Pixels(width: 32, height: 32, bands: 1) { _, _, _ in 128 }, .grey)
        let profile: [UInt8] = Array("ICC_PROFILE\0\u{1}\u{1}".utf8) + GreyProfile.linear
        let file = JPEG.inserting([(0xE2, profile)], into: grey)
        let image = try develop(file)
        let pixels = try pixelsByStrips(image.bytes, [])
        #expect(Self.near(pixels[9, 9], SepiaTests.expected([188, 188, 188], thousandths: 800), within: 3))
    }

    @Test func cmykIsConvertedToSRGB() throws {
        let inks = [[0, 0, 0, 0], [255, 0, 0, 0], [0, 255, 0, 0], [0, 0, 255, 0], [0, 0, 0, 255]]
        let input = Pixels(width: 5 * 32, height: 32, bands: 4) { x, _, band in inks[x / 32][band] }
        // In a JPEG with the Adobe marker, the ink values are inverted; libjpeg writes this marker for CMYK.
        let inverted = Pixels(width: 5 * 32, height: 32, bands: 4) { x, _, band in 255 - inks[x / 32][band] }
        for file in [TIFF.file(input, .cmyk), JPEG.file(inverted, .cmyk)] {
            let pixels = try PNG.pixels(of: develop(file, Self.options).bytes)
            let found = (0..<5).map { pixels[$0 * 32 + 16, 16] }
            #expect(pixels.bands == 3)
            #expect(found[0].allSatisfy { $0 > 245 }, "paper is white: \(found[0])")
            #expect(found[1][0] < 100 && found[1][2] > 180, "cyan: \(found[1])")
            #expect(found[2][0] > 180 && found[2][1] < 100, "magenta: \(found[2])")
            #expect(found[3][0] > 200 && found[3][2] < 100, "yellow: \(found[3])")
            #expect(found[4].allSatisfy { $0 < 80 }, "black: \(found[4])")
            #expect(try develop(file).format == (file[0] == 0xFF ? .jpeg : .tiff))
        }
    }

    @Test func labIsConvertedToSRGB() throws {
        // A white and a red pixel. An L of 100 % is stored as 255; a and b are stored as signed bytes.
        let input = Pixels(width: 2, height: 1, bands: 3) { x, _, band in [[255, 0, 0], [136, 80, 67]][x][band] }
        let pixels = try PNG.pixels(of: develop(TIFF.file(input, .lab), Self.options).bytes)
        // libvips reads an L of 255 as 99.6 %.
        #expect(Self.near(pixels[0, 0], [255, 255, 255], within: 4), "\(pixels[0, 0])")
        #expect(Self.near(pixels[1, 0], [255, 0, 0], within: 15), "\(pixels[1, 0])")
    }

    /// The range 0 to 1 becomes 16 bits, without another curve.
    @Test func floatingPointIsDeveloped() throws {
        let file = TIFF.file(floats: [0, 0, 0, 1, 1, 1, 0.2140, 0.2140, 0.2140], width: 3, height: 1, bands: 3, .rgb)
        let pixels = try PNG.pixels(of: develop(file, Self.options).bytes)
        #expect(Self.near(pixels[1, 0], [65535, 65535, 65535], within: 1), "\(pixels[1, 0])")
        #expect(Self.near(pixels[2, 0], [14024, 14024, 14024], within: 1), "\(pixels[2, 0])")
    }

    @Test func sixteenBitCMYKIsDeveloped() throws {
        let input = Pixels(width: 2, height: 1, bands: 4, bits: 16) { x, _, band in x == 0 ? 0 : band == 3 ? 65535 : 0 }
        let pixels = try PNG.pixels(of: develop(TIFF.file(input, .cmyk), Self.options).bytes)
        let top = pixels.bits == 16 ? 65535 : 255
        #expect(pixels[0, 0].allSatisfy { $0 > top * 95 / 100 } && pixels[1, 0].allSatisfy { $0 < top / 3 })
    }

    @Test func transparencyBecomesWhiteInJPEG() throws {
        let input = Pixels(width: 64, height: 32, bands: 4) { x, _, band in band == 3 ? (x < 32 ? 0 : 255) : 10 }
        let options = DevelopOptions(filters: [.sepia(intensity: 0)], format: .jpeg)
        let pixels = try pixelsByStrips(develop(PNG.file(input), options).bytes, [])
        #expect(
            Self.near(pixels[8, 16], [255, 255, 255], within: 3) && Self.near(pixels[56, 16], [10, 10, 10], within: 3))
    }

    @Test(arguments: ImageFormat.allCases, [1, 2, 3, 4]) func everyFormatAcceptsEveryKindOfPixels(
        format: ImageFormat, bands: Int
    ) throws {
        for bits in [8, 16] {
            let input = Pixels.gradient(width: 70, height: 50, bands: bands, bits: bits)
            let file = PNG.file(input)
            for filters in [[], [Filter.standard], [Filter.tiltShift(radius: 2)]] {
                let image = try develop(file, DevelopOptions(filters: filters, format: format))
                #expect((image.format, image.width, image.height) == (format, 70, 50))
                let kind = image.withUnsafeBytes { ContentType(of: $0) }
                #expect(kind == .image(format))
                let again = try develop(image.bytes)
                #expect((again.format, again.width, again.height) == (format, 70, 50))
            }
        }
    }

    @Test func firstFrameOfAnAnimationIsDeveloped() throws {
        let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2]
        let red = frame + [0x44, 0x01, 0]
        let blue = frame + [0x4C, 0x01, 0]
        let palette: [UInt8] = [255, 0, 0, 0, 0, 255]
        let head: [UInt8] = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0]
        let end: [UInt8] = [0x3B]
        let gif = Array([head, palette, red, blue, end].joined())
        let pixels = try PNG.pixels(of: develop(gif, Self.options).bytes)
        #expect((pixels.width, pixels.height) == (1, 1))
        #expect(Array(pixels[0, 0].prefix(3)) == [255, 0, 0])
    }

    @Test func everyFormatCanBeSavedOnThisMachine() {
        for format in ImageFormat.allCases { #expect(Imaging.canSave(format), "\(format)") }
    }

    @Test(arguments: [ImageFormat.png, .tiff, .jxl, .avif, .heic]) func sixteenBitsAreKeptIfTheFormatHasThem(
        format: ImageFormat
    ) throws {
        let input = Pixels.gradient(width: 300, height: 20, bands: 3, bits: 16)
        let image = try develop(
            PNG.file(input), DevelopOptions(filters: [.sepia(intensity: 0)], format: format, quality: 100))
        let pixels = try PNG.pixels(of: develop(image.bytes, Self.options).bytes)
        #expect(pixels.bits == 16)
        let distance = try #require(pixels.distance(to: input))
        #expect(distance <= (format == .png || format == .tiff ? 0 : 3000), "\(distance)")
    }
}
