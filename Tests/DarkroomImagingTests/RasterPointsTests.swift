import CImaging
import Foundation
import FuzzSupport
import Testing

@Suite struct RasterPointsTests {
    static func affine(_ rows: [Double]) -> darkroom_point {
        var point = darkroom_point()
        point.kind = DARKROOM_AFFINE
        withUnsafeMutableBytes(of: &point.values) { values in rows.withUnsafeBytes { values.copyMemory(from: $0) } }
        return point
    }

    static func power(_ exponent: Double) -> darkroom_point {
        var point = darkroom_point()
        point.kind = DARKROOM_POWER
        point.values.0 = exponent
        return point
    }

    static func sepia(thousandths: Int) -> [Int] {
        let full = [393, 769, 189, 349, 686, 168, 272, 534, 131]
        return full.enumerated().map { $1 * thousandths + ($0 % 4 == 0 ? 1000 * (1000 - thousandths) : 0) }
    }

    static func apply(_ points: [darkroom_point], to pixels: Pixels) -> Pixels {
        pixels.changed { raster in
            darkroom_points_apply(
                points, Int32(points.count), raster.pixels, pixels.width * pixels.height, raster.bands, raster.wide)
        }
    }

    /// The components of a pixel, 0 to 1, after the points.
    static func reference(_ points: [darkroom_point], _ pixel: [Double]) -> [Double] {
        points.reduce(pixel) { pixel, point in
            let values = withUnsafeBytes(of: point.values) { Array($0.bindMemory(to: Double.self)) }
            return (0..<3).map { i in
                guard point.kind == DARKROOM_AFFINE else { return min(max(pow(pixel[i], values[0]), 0), 1) }
                let sum = (0..<3).reduce(values[4 * i + 3]) { $0 + values[4 * i + $1] * pixel[$1] }
                return min(max(sum, 0), 1)
            }
        }
    }

    /// The largest difference of every `step`th pixel from the reference. Alpha must be unchanged.
    static func distance(_ points: [darkroom_point], _ input: Pixels, step: Int = 1) -> Double {
        let output = apply(points, to: input)
        var largest = 0.0
        for pixel in stride(from: 0, to: input.width * input.height, by: step) {
            let before = input[pixel % input.width, pixel / input.width]
            let after = output[pixel % input.width, pixel / input.width]
            let components = (0..<3).map { Double(before[input.colourBands == 3 ? $0 : 0]) / input.top }
            let expected = reference(points, components)
            for band in 0..<input.colourBands {
                largest = max(largest, abs(Double(after[band]) - expected[band] * input.top))
            }
            if input.hasAlpha && before.last != after.last { return .infinity }
        }
        return largest
    }

    static func randomChain(_ random: inout some RandomNumberGenerator) -> [darkroom_point] {
        (0..<5).map { _ in
            if Int.random(in: 0..<4, using: &random) == 0 { return power(.random(in: 0.4...2.5, using: &random)) }
            let strength = Double.random(in: 0...1, using: &random)
            return affine(
                (0..<12).map { i in
                    (i % 5 == 0 ? 1 : 0) + strength * Double.random(in: -0.5...0.5, using: &random)
                })
        }
    }

    @Test(arguments: [0, 100, 300, 700, 800, 1000], [3, 4])
    func roundsExactHalvesOfOneAffinePointUp(thousandths: Int, bands: Int) {
        let levels = Array(stride(from: 0, through: 255, by: 15))
        let count = levels.count
        let input = Pixels(width: count * count, height: count, bands: bands) { x, y, band in
            [levels[y], levels[x / count], levels[x % count], 77][band]
        }
        let sepia = Self.sepia(thousandths: thousandths)
        let rows = (0..<12).map { $0 % 4 == 3 ? 0 : Double(sepia[$0 / 4 * 3 + $0 % 4]) / 1_000_000 }
        let output = Self.apply([Self.affine(rows)], to: input)
        var wrong = 0
        for start in stride(from: 0, to: input.values.count, by: bands) {
            for row in 0..<3 {
                let sum = (0..<3).reduce(0) { $0 + Int(input.values[start + $1]) * sepia[row * 3 + $1] }
                if Int(output.values[start + row]) != min((sum + 500_000) / 1_000_000, 255) { wrong += 1 }
            }
            if bands == 4 && output.values[start + 3] != 77 { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    @Test(arguments: 1...4, [8, 16]) func chainsMatchTheReference(bands: Int, bits: Int) {
        var random = SeededGenerator(seed: UInt64(bands * 100 + bits))
        for (width, height) in [(1, 1), (3, 1), (31, 9), (300, 1)] {
            for _ in 0..<12 {
                let input = Pixels.noise(width: width, height: height, bands: bands, bits: bits, seed: UInt32(width))
                let chain = Self.randomChain(&random)
                #expect(Self.distance(chain, input) < 0.51, "\(width) x \(height): \(chain)")
            }
        }
    }

    @Test func oneAffinePointWithFactorsUpToTheLimitMatchesTheReference() {
        var random = SeededGenerator(seed: 5)
        let input = Pixels.noise(width: 61, height: 7, bands: 4)
        for limit in [0.3, 1, 2, 50, 100] {
            for _ in 0..<10 {
                let rows = (0..<12).map { _ in Double.random(in: -limit...limit, using: &random) }
                #expect(Self.distance([Self.affine(rows)], input) < 0.51, "\(rows)")
            }
        }
    }

    @Test(arguments: [0, 0.1, 0.45, 1, 2.2, 10], [8, 16]) func powersAreExact(exponent: Double, bits: Int) {
        let input = Pixels(width: 256, height: 1, bands: 1, bits: bits) { x, _, _ in bits == 16 ? x * 257 : x }
        #expect(Self.distance([Self.power(exponent)], input) < 0.501)
    }

    @Test func clampsAfterEachPointAndRoundsOnlyAtTheEnd() {
        let input = Pixels(width: 256, height: 1, bands: 3) { x, _, _ in x }
        func scale(_ factor: Double) -> darkroom_point {
            Self.affine([factor, 0, 0, 0, 0, factor, 0, 0, 0, 0, factor, 0])
        }
        #expect(Self.apply([scale(0.01), scale(100)], to: input) == input)
        let clamped = Self.apply([scale(2), scale(0.5)], to: input)
        for x in 0..<256 { #expect(clamped[x, 0][0] == min(x, 128)) }
        #expect(Self.apply([], to: input) == input)
    }

    @Test(.enabled(if: Samples.hasKodak, "the Kodak suite is not at ../shared/photos/kodak"))
    func chainsMatchTheReferenceOnPhotos() throws {
        let files = try FileManager.default.contentsOfDirectory(at: Samples.kodak, includingPropertiesForKeys: nil)
        var random = SeededGenerator(seed: 3)
        for file in files.sorted(by: { $0.path < $1.path }).prefix(3) {
            let photo = try PNG.pixels(of: Array(try Data(contentsOf: file)))
            let wide = Pixels(
                width: photo.width, height: photo.height, bands: 3, bits: 16, values: photo.values.map { $0 * 257 })
            let chain = Self.randomChain(&random)
            #expect(Self.distance(chain, photo, step: 17) < 0.51)
            #expect(Self.distance(chain, wide, step: 17) < 0.51)
        }
    }
}
