import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

@Suite struct TiltShiftTests {
    private static func reference(_ input: Pixels, sigma: Double) -> [Double] {
        RasterBlurTests.tiltShift(input, sigma: sigma, position: 0.5, angle: 0, width: 0, fade: 0.25)
    }

    @Test(arguments: [1.0, 3.0, 6.5], [1, 3]) func matchesTheReference(sigma: Double, bands: Int) throws {
        let input = Pixels.noise(width: 61, height: 83, bands: bands)
        let options = DevelopOptions(filters: [.tiltShift(radius: sigma)])
        let output = try PNG.pixels(of: develop(PNG.file(input), options).bytes)
        #expect(output.bands == bands)
        // Rounding may change a value by 0.5, and single precision by 0.01.
        #expect(output.distance(to: Self.reference(input, sigma: sigma)) < 0.51)
    }

    @Test func maskDependsOnTheRow() throws {
        // Stripes of one pixel: blurring them gives plain grey, so the contrast that remains is 1 - mask.
        let input = Pixels(width: 64, height: 400, bands: 1, bits: 16) { x, _, _ in x % 2 == 0 ? 0 : 60000 }
        let options = DevelopOptions(filters: [.tiltShift(radius: 3)])
        let output = try PNG.pixels(of: develop(PNG.file(input), options).bytes)
        for (row, mask) in [
            (0, 1), (99, 1), (100, 0.995), (125, 0.745), (150, 0.495), (199, 0.005), (200, 0.005), (250, 0.505),
            (300, 1), (399, 1),
        ] {
            let left = Double(output[33, row][0] - output[32, row][0]) / 60000
            #expect(abs(left - (1 - mask)) < 0.001, "row \(row): \(left)")
        }
    }

    @Test func sixteenBitsAreFilteredInSixteenBits() throws {
        let input = Pixels.noise(width: 30, height: 40, bands: 3, bits: 16)
        let output = try PNG.pixels(
            of: develop(PNG.file(input), DevelopOptions(filters: [.tiltShift(radius: 2)])).bytes)
        #expect(output.distance(to: Self.reference(input, sigma: 2)) < 0.6)
    }

    @Test func runsAfterSepia() throws {
        let input = Pixels.noise(width: 40, height: 60, bands: 3)
        let sepia = try PNG.pixels(of: develop(PNG.file(input)).bytes)
        let chain = DevelopOptions(filters: [.standard, .tiltShift(radius: 3)])
        let output = try PNG.pixels(of: develop(PNG.file(input), chain).bytes)
        #expect(output.distance(to: Self.reference(sepia, sigma: 3)) < 0.51)
    }

    @Test func transparentColoursDoNotBleed() throws {
        // Opaque grey beside transparent green.
        let input = Pixels(width: 40, height: 40, bands: 4) { x, _, band in
            x < 20 ? [100, 100, 100, 255][band] : [0, 255, 0, 0][band]
        }
        let output = try PNG.pixels(
            of: develop(PNG.file(input), DevelopOptions(filters: [.tiltShift(radius: 3)])).bytes)
        #expect(output[18, 2][0...2].allSatisfy { abs($0 - 100) <= 1 }, "\(output[18, 2])")
        #expect(output[18, 2][3] > 150 && output[18, 2][3] < 255)
        #expect(output[5, 20] == [100, 100, 100, 255])
    }

    @Test func turnsThePictureUprightFirst() throws {
        let file = JPEG.inserting(
            [(0xE1, JPEG.exif(orientation: 6))],
            into: JPEG.file(Pixels.noise(width: 64, height: 200, bands: 3), .fullColour))
        let upright = try pixelsByVips(file, [])
        #expect((upright.width, upright.height) == (200, 64))
        let output = try pixelsByVips(file, [.tiltShift(radius: 3)])
        #expect(output.distance(to: Self.reference(upright, sigma: 3)) < 0.51)
    }
}
