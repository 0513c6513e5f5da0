import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

@Suite struct TiltShiftTests {
    /// The expected result in double precision. The blur is a separable Gaussian without its weights below 0.01; beyond
    /// an edge, it repeats the pixels of the edge. The mask mixes the blur with the picture.
    static func reference(_ input: Pixels, sigma: Double) -> [[Double]] {
        let radius = Int((sigma * (2 * log(100)).squareRoot()).rounded(.up)) - 1
        let raw = (-radius...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let weights = raw.map { $0 / raw.reduce(0, +) }
        var across = [Double](repeating: 0, count: input.values.count)
        let (width, height, bands) = (input.width, input.height, input.bands)
        for y in 0..<height {
            for x in 0..<width {
                for (k, weight) in weights.enumerated() {
                    let from = min(max(x + k - radius, 0), width - 1)
                    for band in 0..<bands {
                        let value = Double(input.values[(y * width + from) * bands + band])
                        across[(y * width + x) * bands + band] += weight * value
                    }
                }
            }
        }
        return (0..<height).map { y in
            let middle = Double(height) / 2
            let mask = min(1, abs(Double(y) + 0.5 - middle) / (Double(height) / 4))
            return (0..<width * bands).map { i in
                let blurred = weights.enumerated().reduce(0) { sum, weight in
                    sum + weight.element
                        * across[min(max(y + weight.offset - radius, 0), height - 1) * width * bands + i]
                }
                let sharp = Double(input.values[y * width * bands + i])
                return sharp + mask * (blurred - sharp)
            }
        }
    }

    private static func noise(width: Int, height: Int, bands: Int) -> Pixels {
        var state: UInt32 = 7
        return Pixels(width: width, height: height, bands: bands) { _, _, _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return Int(state >> 24)
        }
    }

    @Test(arguments: [1.0, 3.0, 6.5], [1, 3]) func matchesTheReference(sigma: Double, bands: Int) throws {
        let input = Self.noise(width: 61, height: 83, bands: bands)
        let options = DevelopOptions(filters: [.tiltShift(radius: sigma)])
        let output = try PNG.pixels(of: develop(PNG.file(input), options).bytes)
        #expect(output.bands == bands)
        var largest = 0.0
        for (y, row) in Self.reference(input, sigma: sigma).enumerated() {
            for (i, expected) in row.enumerated() {
                largest = max(largest, abs(Double(output.values[y * row.count + i]) - expected))
            }
        }
        // Rounding may change a value by 0.5, and single precision by 0.01.
        #expect(largest < 0.51)
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
        let small = Self.noise(width: 30, height: 40, bands: 3)
        let input = Pixels(width: 30, height: 40, bands: 3, bits: 16, values: small.values.map { $0 * 257 })
        let output = try PNG.pixels(
            of: develop(PNG.file(input), DevelopOptions(filters: [.tiltShift(radius: 2)])).bytes)
        let expected = Self.reference(input, sigma: 2)
        for (i, value) in output.values.enumerated() { #expect(abs(Double(value) - expected[i / 90][i % 90]) < 0.6) }
    }

    @Test func runsAfterSepia() throws {
        let input = Self.noise(width: 40, height: 60, bands: 3)
        let sepia = try PNG.pixels(of: develop(PNG.file(input)).bytes)
        let chain = DevelopOptions(filters: [.standard, .tiltShift(radius: 3)])
        let output = try PNG.pixels(of: develop(PNG.file(input), chain).bytes)
        for (y, row) in Self.reference(sepia, sigma: 3).enumerated() {
            for (i, expected) in row.enumerated() {
                #expect(abs(Double(output.values[y * row.count + i]) - expected) < 0.51)
            }
        }
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

    @Test(arguments: Development.Route.allCases) func turnsThePictureUprightFirst(route: Development.Route) throws {
        let file = JPEG.inserting(
            [(0xE1, JPEG.exif(orientation: 6))],
            into: JPEG.file(Self.noise(width: 64, height: 200, bands: 3), .fullColour))
        let upright = try pixelsByVips(file, [])
        #expect((upright.width, upright.height) == (200, 64))
        let output = try pixelsByVips(file, [.tiltShift(radius: 3)])
        for (y, row) in Self.reference(upright, sigma: 3).enumerated() where y % 7 == 0 {
            for (i, expected) in row.enumerated() {
                #expect(abs(Double(output.values[y * row.count + i]) - expected) < 0.51)
            }
        }
    }
}
