import Glibc

/// The formulas for colours in double precision, as their standards write them.
enum ColourFormulas {
    typealias Matrix = [[Double]]

    static let d65 = [0.3127, 0.3290]
    /// The chromaticities of red, green, blue and white (ITU-T H.273, table 2).
    static let primaries: [Int: [[Double]]] = [
        1: [[0.64, 0.33], [0.30, 0.60], [0.15, 0.06], d65],
        9: [[0.708, 0.292], [0.170, 0.797], [0.131, 0.046], d65],
        4: [[0.67, 0.33], [0.21, 0.71], [0.14, 0.08], [0.310, 0.316]],
        7: [[0.63, 0.34], [0.31, 0.595], [0.155, 0.07], d65],
        11: [[0.68, 0.32], [0.265, 0.69], [0.15, 0.06], [0.314, 0.351]],
        12: [[0.68, 0.32], [0.265, 0.69], [0.15, 0.06], d65],
        22: [[0.63, 0.34], [0.295, 0.605], [0.155, 0.077], d65],
    ]

    // MARK: - Matrices

    static func times(_ a: Matrix, _ b: Matrix) -> Matrix {
        a.map { row in (0..<b[0].count).map { column in (0..<b.count).reduce(0) { $0 + row[$1] * b[$1][column] } } }
    }

    static func inverse(_ m: Matrix) -> Matrix {
        func minor(_ row: Int, _ column: Int) -> Double {
            let (rows, columns) = ([0, 1, 2].filter { $0 != row }, [0, 1, 2].filter { $0 != column })
            return m[rows[0]][columns[0]] * m[rows[1]][columns[1]] - m[rows[0]][columns[1]] * m[rows[1]][columns[0]]
        }
        let determinant = (0..<3).reduce(0) { $0 + ($1 == 1 ? -1 : 1) * m[0][$1] * minor(0, $1) }
        return (0..<3).map { row in
            (0..<3).map { column in ((row + column) % 2 == 1 ? -1 : 1) * minor(column, row) / determinant }
        }
    }

    private static func xyz(_ xy: [Double]) -> Matrix { [[xy[0] / xy[1]], [1], [(1 - xy[0] - xy[1]) / xy[1]]] }

    /// From linear light of the primaries to XYZ, adapted to D65 by the Bradford transformation.
    static func toXYZ(_ primaries: [[Double]]) -> Matrix {
        let columns = (0..<3).map { row in
            primaries.prefix(3).map { row == 2 ? 1 - $0[0] - $0[1] : $0[row] }
        }
        let scales = times(inverse(columns), xyz(primaries[3]))
        let scaled = columns.map { row in (0..<3).map { row[$0] * scales[$0][0] } }
        let bradford = [[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]]
        let (from, to) = (times(bradford, xyz(primaries[3])), times(bradford, xyz(d65)))
        let adapted = (0..<3).map { row in bradford[row].map { $0 * to[row][0] / from[row][0] } }
        return times(times(inverse(bradford), adapted), scaled)
    }

    static func srgb(_ light: Double) -> Double {
        let light = min(max(light, 0), 1)
        return light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    /// The values of sRGB for linear light in other primaries.
    static func srgb(_ light: [Double], from primaries: [[Double]]) -> [Double] {
        let toSRGB = times(inverse(toXYZ(Self.primaries[1]!)), toXYZ(primaries))
        return times(toSRGB, light.map { [$0] }).map { srgb($0[0]) }
    }

    // MARK: - Transfer functions (H.273, table 3)

    static func light(_ value: Double, transfer: Int) -> Double {
        switch transfer {
        case 1, 6, 14, 15:
            let (a, b) = (1.099296826809442, 0.018053968510807)
            return value < 4.5 * b ? value / 4.5 : pow((value + a - 1) / a, 1 / 0.45)
        case 4: return pow(value, 2.2)
        case 5: return pow(value, 2.8)
        case 7: return value < 0.0912 ? value / 4 : pow((value + 0.1115) / 1.1115, 1 / 0.45)
        case 8: return value
        case 9: return value > 0 ? pow(10, 2 * (value - 1)) : 0
        case 17: return pow(value, 2.6)
        default: return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
    }

    // MARK: - HDR

    /// BT.2100, table 4: the EOTF of PQ, in cd/m2.
    static func pq(_ value: Double) -> Double {
        let (m1, m2) = (0.1593017578125, 78.84375), (c1, c2, c3) = (0.8359375, 18.8515625, 18.6875)
        let power = pow(value, 1 / m2)
        return 10000 * pow(max(power - c1, 0) / (c2 - c3 * power), 1 / m1)
    }

    static func inversePQ(_ luminance: Double) -> Double {
        let (m1, m2) = (0.1593017578125, 78.84375), (c1, c2, c3) = (0.8359375, 18.8515625, 18.6875)
        let power = pow(luminance / 10000, m1)
        return pow((c1 + c2 * power) / (1 + c3 * power), m2)
    }

    /// BT.2100, table 5: the light of the scene.
    static func hlgScene(_ value: Double) -> Double {
        let a = 0.17883277, b = 0.28466892, c = 0.55991073
        return value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12
    }

    /// BT.2390, 5.4.1, from black at 0 to black at 0.
    static func eetf(_ luminance: Double, from source: Double, to target: Double) -> Double {
        guard source > target else { return min(luminance, target) }
        let e1 = min(inversePQ(luminance) / inversePQ(source), 1)
        let maxLum = inversePQ(target) / inversePQ(source), ks = 1.5 * maxLum - 0.5
        func p(_ b: Double) -> Double {
            let t = (b - ks) / (1 - ks)
            return (2 * t * t * t - 3 * t * t + 1) * ks + (t * t * t - 2 * t * t + t) * (1 - ks)
                + (-2 * t * t * t + 3 * t * t) * maxLum
        }
        return pq((e1 < ks ? e1 : p(e1)) * inversePQ(source))
    }

    /// The sRGB values, 0 to 1, of an HDR pixel.
    static func sdr(_ values: [Double], isHLG: Bool, primaries: Int, peak: Double = 1000) -> [Double] {
        var light = values.map { isHLG ? hlgScene($0) : pq($0) }
        if isHLG {
            let luma = zip(toXYZ(Self.primaries[primaries]!)[1], light).reduce(0) { $0 + $1.0 * $1.1 }
            let gain = luma > 0 ? 1000 * pow(luma, 0.2) : 0
            light = light.map { $0 * gain }
        }
        let brightest = light.max()!  // not empty
        let factor = brightest > 0 ? eetf(brightest, from: peak, to: 203) / brightest : 0
        return srgb(light.map { $0 * factor / 203 }, from: Self.primaries[primaries]!)
    }
}
