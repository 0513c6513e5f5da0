import Glibc

/// An RGB colour profile with the primaries of Display P3 and a gamma of 2 + 51/256.
enum MatrixProfile {
    private static let gamma = 2 + 51.0 / 256
    /// The columns of red, green and blue, adapted to D50, in units of 1/65536.
    private static let primaries = [[33758, 15807, -72], [19137, 45364, 2746], [10296, 4365, 51387]]
    /// From XYZ with the white of D50 to linear sRGB.
    private static let toSRGB = [
        [3.1338561, -1.6168667, -0.4906146], [-0.9787684, 1.9161415, 0.0334540], [0.0719453, -0.2289914, 1.4052427],
    ]

    static let p3: [UInt8] = {
        let curve = ICCProfile.curve(whole: 2, part: 51)
        let columns = primaries.map(ICCProfile.xyz)
        return ICCProfile.file(
            space: "RGB ",
            tags: [
                ("rXYZ", columns[0]), ("gXYZ", columns[1]), ("bXYZ", columns[2]), ("rTRC", curve), ("gTRC", curve),
                ("bTRC", curve),
            ])
    }()

    /// The colour in sRGB, computed from the definitions.
    static func inSRGB(_ colour: [Int]) -> [Int] {
        let light = colour.map { pow(Double($0) / 255, gamma) }
        let xyz = (0..<3).map { row in (0..<3).reduce(0) { $0 + Double(primaries[$1][row]) / 65536 * light[$1] } }
        return toSRGB.map { row in
            let linear = min(max(zip(row, xyz).reduce(0) { $0 + $1.0 * $1.1 }, 0), 1)
            let value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055
            return Int((value * 255).rounded())
        }
    }
}
