import CImaging
import Foundation

/// An operation on pixels in memory, with its arguments.
typealias RasterOperation = (UnsafePointer<darkroom_raster>, UnsafePointer<darkroom_interrupt>) -> darkroom_status

extension Pixels {
    var top: Double { bits == 16 ? 65535 : 255 }
    var hasAlpha: Bool { bands % 2 == 0 }
    var colourBands: Int { bands > 2 ? 3 : 1 }

    /// Calls `body` with a raster of these pixels, and returns the changed pixels.
    func changed(_ body: (inout darkroom_raster) -> Void) -> Pixels {
        var result = self
        // Of the exact size, so that the address sanitizer finds accesses beyond the end.
        let memory = UnsafeMutableRawPointer.allocate(byteCount: values.count * bits / 8, alignment: 16)
        defer { memory.deallocate() }
        let bytes = memory.assumingMemoryBound(to: UInt8.self), words = memory.assumingMemoryBound(to: UInt16.self)
        for (i, value) in values.enumerated() {
            if bits == 16 { words[i] = value } else { bytes[i] = UInt8(value) }
        }
        var raster = darkroom_raster(
            pixels: memory, width: Int32(width), height: Int32(height), bands: Int32(bands), wide: bits == 16)
        body(&raster)
        for i in values.indices { result.values[i] = bits == 16 ? words[i] : UInt16(bytes[i]) }
        return result
    }

    /// Applies the operation. Cancels it at call `cancelAt` of the interrupt, counted from 1.
    func applying(
        cancelAt: Int? = nil, _ operation: RasterOperation
    ) -> (pixels: Pixels, status: darkroom_status, calls: Int) {
        // The number of calls, and the call at which the operation is cancelled.
        var counts = (0, cancelAt ?? -1)
        var status = DARKROOM_DONE
        let pixels = changed { raster in
            withUnsafeMutableBytes(of: &counts) { counts in
                var interrupt = darkroom_interrupt(
                    is_cancelled: { context in
                        let counts = context!.assumingMemoryBound(to: Int.self)
                        counts[0] += 1
                        return counts[0] == counts[1]
                    }, context: counts.baseAddress)
                status = operation(&raster, &interrupt)
            }
        }
        return (pixels, status, counts.0)
    }

    /// Random samples; if there is alpha, many pixels are opaque and some are transparent.
    static func noise(width: Int, height: Int, bands: Int, bits: Int = 8, seed: UInt32 = 7) -> Pixels {
        var state = seed
        func next() -> Int {
            state = state &* 1_664_525 &+ 1_013_904_223
            return Int(state >> 16)
        }
        let top = bits == 16 ? 65535 : 255
        return Pixels(width: width, height: height, bands: bands, bits: bits) { _, _, band in
            let sample = next() & top, kind = next() % 4
            guard bands % 2 == 0 && band == bands - 1 else { return sample }
            return kind == 0 ? 0 : kind == 1 ? sample : top
        }
    }

    /// The largest difference from the expected samples.
    func distance(to expected: [Double]) -> Double {
        zip(values, expected).reduce(0) { max($0, abs(Double($1.0) - $1.1)) }
    }

    // MARK: - References in double precision

    /// The samples, with the colours multiplied by alpha from 0 to 1.
    var premultiplied: [Double] {
        values.indices.map { i in
            let isColour = hasAlpha && i % bands != bands - 1
            return Double(values[i]) * (isColour ? Double(values[i - i % bands + bands - 1]) / top : 1)
        }
    }

    /// Divides the colours by alpha; transparent colours become 0.
    func unpremultiplied(_ samples: [Double]) -> [Double] {
        samples.indices.map { i in
            guard hasAlpha && i % bands != bands - 1 else { return samples[i] }
            let alpha = samples[i - i % bands + bands - 1]
            return alpha > 0 ? samples[i] * top / alpha : 0
        }
    }

    /// A separable Gaussian without its weights below 0.01 of the middle weight, which repeats the pixels of the edges.
    /// The colours of the result are multiplied by alpha.
    func premultipliedBlur(sigma: Double) -> [Double] {
        let radius = Int((sigma * (2 * log(100)).squareRoot()).rounded(.up)) - 1
        let raw = (-radius...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let total = raw.reduce(0, +)
        let input = premultiplied
        var across = [Double](repeating: 0, count: input.count), result = across
        for (k, weight) in raw.enumerated() {
            for y in 0..<height {
                for x in 0..<width {
                    let from = min(max(x + k - radius, 0), width - 1)
                    for band in 0..<bands {
                        across[(y * width + x) * bands + band] +=
                            weight / total * input[(y * width + from) * bands + band]
                    }
                }
            }
        }
        let row = width * bands
        for (k, weight) in raw.enumerated() {
            for y in 0..<height {
                let from = min(max(y + k - radius, 0), height - 1)
                for i in 0..<row { result[y * row + i] += weight / total * across[from * row + i] }
            }
        }
        return result
    }
}

/// Sizes down to a single pixel.
let oddSizes = [(1, 1), (1, 7), (5, 1), (2, 3), (37, 29)]
