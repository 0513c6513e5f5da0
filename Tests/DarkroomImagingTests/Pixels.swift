/// Pixels in memory, with interleaved bands: the input and the output pictures of tests.
struct Pixels: Equatable {
    let width: Int
    let height: Int
    let bands: Int
    /// 8 or 16.
    let bits: Int
    var values: [UInt16]

    init(width: Int, height: Int, bands: Int, bits: Int = 8, values: [UInt16]) {
        precondition(values.count == width * height * bands)
        self.width = width
        self.height = height
        self.bands = bands
        self.bits = bits
        self.values = values
    }

    init(width: Int, height: Int, bands: Int, bits: Int = 8, value: (_ x: Int, _ y: Int, _ band: Int) -> Int) {
        var values: [UInt16] = []
        values.reserveCapacity(width * height * bands)
        for y in 0..<height {
            for x in 0..<width {
                for band in 0..<bands { values.append(UInt16(value(x, y, band))) }
            }
        }
        self.init(width: width, height: height, bands: bands, bits: bits, values: values)
    }

    /// The bands of one pixel.
    subscript(x: Int, y: Int) -> [Int] {
        let start = (y * width + x) * bands
        return values[start..<start + bands].map(Int.init)
    }

    /// The largest difference between two values at the same place; nil if the sizes, bands or bits differ.
    func distance(to other: Pixels) -> Int? {
        guard (width, height, bands, bits) == (other.width, other.height, other.bands, other.bits) else { return nil }
        return zip(values, other.values).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
    }

    /// Smooth colours, which JPEG changes little.
    static func gradient(width: Int, height: Int, bands: Int = 3, bits: Int = 8) -> Pixels {
        let top = bits == 16 ? 65535 : 255
        return Pixels(width: width, height: height, bands: bands, bits: bits) { x, y, band in
            switch band {
            case 0: x * top / max(width - 1, 1)
            case 1: y * top / max(height - 1, 1)
            default: (x + y) * top / max(width + height - 2, 1)
            }
        }
    }
}
