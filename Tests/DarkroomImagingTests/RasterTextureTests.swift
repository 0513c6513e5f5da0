import CImaging
import Foundation
import FuzzSupport
import Testing

@Suite struct RasterTextureTests {
    @Test(arguments: [3, 7, 15], 1...4) func mediansAreExact(size: Int, bands: Int) {
        for bits in [8, 16] {
            for (width, height) in [(1, 1), (1, 7), (5, 1), (2, 3), (41, 5)] {
                let input = Pixels.noise(width: width, height: height, bands: bands, bits: bits)
                let output = input.applying { darkroom_raster_median($0, Int32(size), $1) }
                #expect(output.status == DARKROOM_DONE)
                let reach = -(size / 2)...(size / 2)
                let expected = Pixels(width: width, height: height, bands: bands, bits: bits) { x, y, band in
                    let window = reach.flatMap { dy in
                        reach.map { dx -> UInt16 in
                            let (x, y) = (min(max(x + dx, 0), width - 1), min(max(y + dy, 0), height - 1))
                            return input.values[(y * width + x) * bands + band]
                        }
                    }
                    return Int(window.sorted()[size * size / 2])
                }
                #expect(output.pixels == expected, "\(width) x \(height), \(bits) bits")
            }
        }
    }

    @Test(arguments: [1, 2, 7, 1000, Int(Int32.max)], 1...4) func blocksHaveTheirMean(size: Int, bands: Int) {
        for bits in [8, 16] {
            for (width, height) in oddSizes {
                let input = Pixels.noise(width: width, height: height, bands: bands, bits: bits)
                let output = input.applying { darkroom_raster_pixelate($0, Int32(size), $1) }
                #expect(output.status == DARKROOM_DONE)
                let premultiplied = input.premultiplied
                var sums: [Int: [Double]] = [:]
                func block(_ pixel: Int) -> Int { pixel / width / size * width + pixel % width / size }
                for pixel in 0..<width * height {
                    let samples = premultiplied[pixel * bands..<(pixel + 1) * bands]
                    sums[block(pixel), default: Array(repeating: 0, count: bands + 1)] = zip(
                        sums[block(pixel)] ?? Array(repeating: 0, count: bands + 1), samples + [1]
                    ).map(+)
                }
                let means = (0..<width * height).flatMap { pixel in
                    let sum = sums[block(pixel)]!
                    return sum.dropLast().map { $0 / sum[bands] }
                }
                #expect(output.pixels.distance(to: input.unpremultiplied(means)) < 0.5001, "\(width) x \(height)")
            }
        }
    }

    @Test(arguments: [(1.0, 0.0), (0.5, 0.6), (0.8, 1)], 1...4)
    func vignetteMatchesTheReference(arguments: (Double, Double), bands: Int) {
        let (amount, radius) = arguments
        let colour = bands > 2 ? [0.9, 0.1, 0.3] : [0.2, 0.2, 0.2]
        for bits in [8, 16] {
            for (width, height) in oddSizes {
                let input = Pixels.noise(width: width, height: height, bands: bands, bits: bits)
                let output = input.applying {
                    darkroom_raster_vignette($0, amount, radius, colour[0], colour[1], colour[2], $1)
                }
                let expected = input.values.enumerated().map { i, value in
                    if input.hasAlpha && i % bands == bands - 1 { return Double(value) }
                    let x = Double(i / bands % width) + 0.5 - Double(width) / 2
                    let y = Double(i / bands / width) + 0.5 - Double(height) / 2
                    let distance = hypot(x, y) / (hypot(Double(width), Double(height)) / 2)
                    let t = radius < 1 ? min(max((distance - radius) / (1 - radius), 0), 1) : 0
                    let share = t * t * (3 - 2 * t) * amount
                    return Double(value) + share * (colour[i % bands] * input.top - Double(value))
                }
                #expect(output.pixels.distance(to: expected) < (bits == 16 ? 0.6 : 0.51), "\(width) x \(height)")
            }
        }
    }

    @Test(arguments: [(0.0, 1.0), (0.25, 0.75), (0.5, 0.5), (0.125, 1)], 1...4)
    func percentilesAreExact(shares: (Double, Double), bands: Int) {
        for bits in [8, 16] {
            for (width, height) in oddSizes {
                let input = Pixels.noise(width: width, height: height, bands: bands, bits: bits)
                var low = -1.0, high = -1.0
                let output = input.applying {
                    darkroom_raster_percentiles($0, nil, 0, shares.0, shares.1, &low, &high, $1)
                }
                #expect(output.status == DARKROOM_DONE && output.pixels == input)
                var luminances: [Double] = []
                for pixel in 0..<width * height {
                    let samples = input[pixel % width, pixel / width]
                    if input.hasAlpha && samples.last == 0 { continue }
                    let (green, blue) = bands > 2 ? (samples[1], samples[2]) : (samples[0], samples[0])
                    let sum = 0.2126 * Double(samples[0]) + 0.7152 * Double(green) + 0.0722 * Double(blue)
                    luminances.append(sum / input.top)
                }
                luminances.sort()
                let count = luminances.count, last = Double(count - 1)
                guard count > 0 else {
                    #expect((low, high) == (0, 1))
                    continue
                }
                let lowest = Int(min(Double(count) * shares.0, last).rounded(.down))
                let highest = Int(min(Double(count) * (1 - shares.1), last).rounded(.down))
                #expect(abs(low - luminances[lowest]) < 1e-7)
                #expect(abs(high - luminances[count - 1 - highest]) < 1e-7)
            }
        }
    }

    // MARK: - Overlay

    /// Porter and Duff, "over": both colours multiplied by alpha, the lower one also by the rest of the upper alpha.
    private static func over(_ top: Pixels, _ base: Pixels, _ x: Int, _ y: Int, _ opacity: Double) -> [Double] {
        let colours = base.colourBands
        return (0..<base.width * base.height).flatMap { pixel -> [Double] in
            let (column, row) = (pixel % base.width - x, pixel / base.width - y)
            let lower = base[pixel % base.width, pixel / base.width].map { Double($0) / base.top }
            guard (0..<top.width).contains(column), (0..<top.height).contains(row) else {
                return lower.map { $0 * base.top }
            }
            let upper = top[column, row].map { Double($0) / top.top }
            let above = opacity * (top.hasAlpha ? upper[colours] : 1)
            let below = (base.hasAlpha ? lower[colours] : 1) * (1 - above)
            guard above > 0 else { return lower.map { $0 * base.top } }
            let mixed = (0..<colours).map { (upper[$0] * above + lower[$0] * below) / (above + below) }
            return (mixed + (base.hasAlpha ? [above + below] : [])).map { $0 * base.top }
        }
    }

    @Test(arguments: [(1, 1), (1, 2), (2, 1), (2, 2), (3, 3), (3, 4), (4, 3), (4, 4)], [8, 16])
    func overlayMatchesTheReference(bands: (Int, Int), bits: Int) {
        let base = Pixels.noise(width: 13, height: 9, bands: bands.0, bits: bits)
        let top = Pixels.noise(width: 6, height: 5, bands: bands.1, bits: bits, seed: 99)
        for (x, y) in [(0, 0), (4, 3), (-2, -3), (10, 7), (-6, 0), (13, 9), (0, -50)] {
            for opacity in [0, 0.3, 1] {
                let output = base.applying { base, interrupt in
                    var status = DARKROOM_DONE
                    _ = top.changed { top in
                        status = darkroom_raster_overlay(base, &top, Int32(x), Int32(y), opacity, interrupt)
                    }
                    return status
                }
                #expect(output.status == DARKROOM_DONE)
                let distance = output.pixels.distance(to: Self.over(top, base, x, y, opacity))
                #expect(distance < (bits == 16 ? 0.6 : 0.51), "\(x), \(y), \(opacity)")
            }
        }
    }

    // MARK: - Trim

    /// The box of all pixels that differ from the background by more than the threshold.
    private static func trimBox(_ input: Pixels, _ threshold: Double, _ background: [Double]?) -> [Int] {
        let samples = input.premultiplied
        var wanted = Array(samples.prefix(input.bands))
        if let background {
            let alpha = input.hasAlpha ? background[3] / 255 : 1
            wanted = background.prefix(input.colourBands).map { $0 / 255 * input.top * alpha }
            if input.hasAlpha { wanted.append(alpha * input.top) }
        }
        let different = (0..<input.width * input.height).filter { pixel in
            (0..<input.bands).contains {
                abs(samples[pixel * input.bands + $0] - wanted[$0]) > threshold * input.top / 255 + 1e-9
            }
        }
        guard !different.isEmpty else { return [0, 0, 0, 0] }
        let columns = different.map { $0 % input.width }, rows = different.map { $0 / input.width }
        let (left, top) = (columns.min()!, rows.min()!)
        return [left, top, columns.max()! - left + 1, rows.max()! - top + 1]
    }

    @Test(arguments: 1...4, [8, 16]) func trimFindsTheSmallestBox(bands: Int, bits: Int) {
        var random = SeededGenerator(seed: UInt64(bands))
        for (width, height) in oddSizes + [(9, 6)] {
            for count in 0...6 {
                // A plain photo with single pixels that differ, some only in their hidden colours.
                let noise = Pixels.noise(width: width, height: height, bands: bands, bits: bits)
                let spots = Set((0..<count).map { _ in random.number(in: 0..<width * height) })
                let input = Pixels(width: width, height: height, bands: bands, bits: bits) { x, y, band in
                    spots.contains(y * width + x)
                        ? noise[x, y][band] : [51, 102, 0, 153][band] * (bits == 16 ? 257 : 1)
                }
                for background in [nil, [51, 102, 0, 153.0], [51, 102, 0, 255], [0, 0, 0, 0]] {
                    for threshold in [0, 40, 255.0] {
                        var box = darkroom_box()
                        let output = input.applying { raster, interrupt in
                            darkroom_raster_find_trim(raster, threshold, background, &box, interrupt)
                        }
                        #expect(output.status == DARKROOM_DONE && output.pixels == input)
                        let found = [box.x, box.y, box.width, box.height].map { Int($0) }
                        #expect(found == Self.trimBox(input, threshold, background), "\(spots), \(threshold)")
                    }
                }
            }
        }
    }

    // MARK: - Cancellation

    enum Operation: CaseIterable {
        case blur, largeBlur, tiltShift, sharpen, median, pixelate, vignette, percentiles, overlay, findTrim

        func run(
            _ raster: UnsafePointer<darkroom_raster>, _ interrupt: UnsafePointer<darkroom_interrupt>
        ) -> darkroom_status {
            var low = 0.0, high = 0.0, box = darkroom_box()
            return switch self {
            case .blur: darkroom_raster_blur(raster, 3, interrupt)
            case .largeBlur: darkroom_raster_blur(raster, 15, interrupt)
            case .tiltShift: darkroom_raster_tilt_shift(raster, 3, 0.5, 0, 0, 0.25, interrupt)
            case .sharpen: darkroom_raster_sharpen(raster, 1, 1, 0, interrupt)
            case .median: darkroom_raster_median(raster, 5, interrupt)
            case .pixelate: darkroom_raster_pixelate(raster, 20, interrupt)
            case .vignette: darkroom_raster_vignette(raster, 1, 0, 0, 0, 0, interrupt)
            case .percentiles: darkroom_raster_percentiles(raster, nil, 0, 0, 1, &low, &high, interrupt)
            case .overlay: darkroom_raster_overlay(raster, raster, 0, 0, 0.5, interrupt)
            case .findTrim: darkroom_raster_find_trim(raster, 0, nil, &box, interrupt)
            }
        }
    }

    @Test(arguments: Operation.allCases) func stopsWhenCancelled(operation: Operation) {
        let input = Pixels.noise(width: 9, height: 300, bands: 3)
        let whole = input.applying(operation.run)
        #expect(whole.status == DARKROOM_DONE)
        // The large blur looks at the interrupt once per row of cells, which is three rows of pixels.
        #expect(whole.calls >= 100)
        for call in [1, whole.calls / 2, whole.calls] {
            let cancelled = input.applying(cancelAt: call, operation.run)
            #expect(cancelled.status == DARKROOM_CANCELLED)
            #expect(cancelled.calls == call)
        }
    }
}
