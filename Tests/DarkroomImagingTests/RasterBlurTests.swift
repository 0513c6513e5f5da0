import CImaging
import Foundation
import Testing

@Suite struct RasterBlurTests {
    @Test(arguments: [0.1, 0.5, 1, 3, 6.5, 8], 1...4) func matchesTheReference(sigma: Double, bands: Int) {
        for bits in [8, 16] {
            for (width, height) in oddSizes {
                let input = Pixels.noise(width: width, height: height, bands: bands, bits: bits)
                let output = input.applying { darkroom_raster_blur($0, sigma, $1) }
                #expect(output.status == DARKROOM_DONE)
                let expected = input.unpremultiplied(input.premultipliedBlur(sigma: sigma))
                #expect(output.pixels.distance(to: expected) < (bits == 16 ? 0.6 : 0.51), "\(width) x \(height)")
            }
        }
    }

    @Test(arguments: [8.1, 12, 20, 100], [1, 4]) func largeSigmasAreNearTheReference(
        sigma: Double, bands: Int
    ) {
        // Noise, an edge, and a frame of one pixel, whose pixels are repeated beyond the edges.
        let (width, height) = (37, 51)
        let noise = Pixels.noise(width: width, height: height, bands: bands)
        let edge = Pixels(width: width, height: height, bands: bands) { x, _, band in x < 23 || band == 3 ? 255 : 0 }
        let frame = Pixels(width: width, height: height, bands: bands) { x, y, band in
            x == 0 || y == 0 || x == width - 1 || y == height - 1 || band == 3 ? 255 : 0
        }
        for input in [noise, edge, frame] {
            let expected = input.unpremultiplied(input.premultipliedBlur(sigma: sigma))
            #expect(input.applying { darkroom_raster_blur($0, sigma, $1) }.pixels.distance(to: expected) < 1)
            let wide = Pixels(
                width: input.width, height: input.height, bands: bands, bits: 16, values: input.values.map { $0 * 257 })
            #expect(
                wide.applying { darkroom_raster_blur($0, sigma, $1) }.pixels.distance(to: expected.map { $0 * 257 })
                    < 128)
        }
    }

    @Test(arguments: [8.1, 250], 1...4) func uniformColoursStay(sigma: Double, bands: Int) {
        for (width, height) in oddSizes {
            let input = Pixels(width: width, height: height, bands: bands) { _, _, band in [77, 200, 255, 128][band] }
            #expect(input.applying { darkroom_raster_blur($0, sigma, $1) }.pixels == input)
        }
    }

    /// The rows that the blur keeps in memory are no more than those of the raster.
    @Test(arguments: [8, 40.0]) func longRowsNeedLittleMemory(sigma: Double) {
        let input = Pixels(width: 450_000, height: 1, bands: 3) { x, _, band in x & 1023 < 512 ? 200 : 50 * band }
        #expect(input.applying { darkroom_raster_blur($0, sigma, $1) }.status == DARKROOM_DONE)
    }

    @Test func rowsThatNeedTooMuchMemoryAreRefused() {
        // The pixels are not read.
        var sample: UInt8 = 0
        withUnsafeMutableBytes(of: &sample) { bytes in
            var raster = darkroom_raster(
                pixels: bytes.baseAddress, width: 10_000_000, height: 10, bands: 3, wide: false)
            var interrupt = darkroom_interrupt(is_cancelled: { _ in true }, context: nil)
            #expect(darkroom_raster_blur(&raster, 8, &interrupt) == DARKROOM_ROWS_TOO_LONG)
            #expect(darkroom_raster_sharpen(&raster, 10, 1, 0, &interrupt) == DARKROOM_ROWS_TOO_LONG)
            #expect(darkroom_raster_tilt_shift(&raster, 100, 0.5, 0, 0, 1, &interrupt) == DARKROOM_ROWS_TOO_LONG)
        }
    }

    @Test(arguments: [3.0, 20]) func transparentColoursDoNotBleed(sigma: Double) {
        // Opaque grey beside transparent green.
        let input = Pixels(width: 60, height: 40, bands: 4) { x, _, band in
            x < 30 ? [100, 100, 100, 255][band] : [0, 255, 0, 0][band]
        }
        let output = input.applying { darkroom_raster_blur($0, sigma, $1) }.pixels
        #expect(output[29, 20][0...2] == [100, 100, 100])
        #expect((128...150).contains(output[29, 20][3]))
    }

    // MARK: - Tilt-shift

    static func tiltShift(
        _ input: Pixels, sigma: Double, position: Double, angle: Double, width: Double, fade: Double
    ) -> [Double] {
        let blurred = input.premultipliedBlur(sigma: sigma), sharp = input.premultiplied
        let height = Double(input.height), radians = angle * .pi / 180
        let mixed = sharp.indices.map { i in
            let pixel = i / input.bands
            let x = Double(pixel % input.width) + 0.5 - Double(input.width) / 2
            let y = Double(pixel / input.width) + 0.5 - position * height
            let distance = abs(x * sin(radians) + y * cos(radians))
            let far = distance - width * height / 2
            let mask = fade == 0 ? (far > 0 ? 1 : 0) : min(max(far / (fade * height), 0), 1)
            return sharp[i] + mask * (blurred[i] - sharp[i])
        }
        return input.unpremultiplied(mixed)
    }

    @Test(
        arguments: [
            (0.5, 0.0, 0.0, 0.25), (0.3, 0, 0.4, 0.1), (0.5, 90, 0.2, 0.3), (0.6, 33, 0.1, 0.5), (0.9, -70, 0.3, 0),
            (0, 180, 1.9, 0.2),
        ], 1...4)
    func tiltShiftMatchesTheReference(place: (Double, Double, Double, Double), bands: Int) {
        let (position, angle, width, fade) = place
        for bits in [8, 16] {
            for size in oddSizes {
                let input = Pixels.noise(width: size.0, height: size.1, bands: bands, bits: bits)
                let output = input.applying {
                    darkroom_raster_tilt_shift($0, 2, position, angle, width, fade, $1)
                }
                let expected = Self.tiltShift(
                    input, sigma: 2, position: position, angle: angle, width: width, fade: fade)
                // Rows that stay sharp keep the colours of their transparent pixels.
                let differences = zip(output.pixels.values, expected).enumerated().map { i, pair in
                    let alpha = input.hasAlpha ? expected[i - i % bands + bands - 1] : 1
                    return alpha == 0 ? 0 : abs(Double(pair.0) - pair.1)
                }
                #expect(differences.max()! < (bits == 16 ? 0.6 : 0.51), "\(size)")
            }
        }
    }

    @Test func tiltShiftWithLargeSigmaIsNearTheReference() {
        let input = Pixels.noise(width: 40, height: 67, bands: 3)
        let output = input.applying { darkroom_raster_tilt_shift($0, 16, 0.6, 20, 0.5, 0.2, $1) }.pixels
        let expected = Self.tiltShift(input, sigma: 16, position: 0.6, angle: 20, width: 0.5, fade: 0.2)
        #expect(output.distance(to: expected) < 1)
        // Rows in the sharp stripe are unchanged. The first row below the stripe is blurred correctly.
        let stripe = input.applying { darkroom_raster_tilt_shift($0, 16, 0.4, 0, 0.5, 0.1, $1) }.pixels
        let half = Self.tiltShift(input, sigma: 16, position: 0.4, angle: 0, width: 0.5, fade: 0.1)
        #expect(stripe.distance(to: half) < 1)
        #expect(stripe[7, 27] == input[7, 27])
    }

    @Test func tiltShiftDoesNotFilterRowsThatStaySharp() {
        // The interrupt is called once per filtered row.
        let input = Pixels.noise(width: 3, height: 400, bands: 1)
        let calls = input.applying { darkroom_raster_tilt_shift($0, 3, 0.5, 0, 0.5, 0.1, $1) }.calls
        #expect(calls > 200 && calls < 250)
    }

    // MARK: - Sharpen

    @Test(arguments: [(0.6, 1.0, 0.0), (2, 3, 20), (12, 0.5, 3)], 1...4)
    func sharpenMatchesTheReference(arguments: (Double, Double, Double), bands: Int) {
        let (sigma, amount, threshold) = arguments
        for bits in [8, 16] {
            for size in oddSizes {
                let input = Pixels.noise(width: size.0, height: size.1, bands: bands, bits: bits)
                let output = input.applying { darkroom_raster_sharpen($0, sigma, amount, threshold, $1) }.pixels
                let blurred = input.unpremultiplied(input.premultipliedBlur(sigma: sigma))
                let step = input.top / 255
                var largest = 0.0
                for (i, value) in input.values.enumerated() {
                    let isAlpha = input.hasAlpha && i % bands == bands - 1
                    let difference = isAlpha ? 0 : Double(value) - blurred[i]
                    // Errors of the blur decide whether such a difference exceeds the threshold.
                    if abs(abs(difference) - threshold * step) < 0.5 * step { continue }
                    let added = abs(difference) > threshold * step ? amount * difference : 0
                    let expected = min(max(Double(value) + added, 0), input.top)
                    largest = max(largest, abs(Double(output.values[i]) - expected))
                }
                #expect(largest < 0.6 + (sigma > 8 ? 0.5 * step * amount : 0), "\(size)")
            }
        }
    }
}
