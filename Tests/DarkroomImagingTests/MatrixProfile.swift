import Glibc

/// An RGB colour profile (ICC.1, version 2) with the primaries of Display P3 and a gamma of 2 + 51/256.
enum MatrixProfile {
    private static let gamma = 2 + 51.0 / 256
    /// The columns of red, green and blue, adapted to D50, in units of 1/65536.
    private static let primaries = [[33758, 15807, -72], [19137, 45364, 2746], [10296, 4365, 51387]]
    /// From XYZ with the white of D50 to linear sRGB.
    private static let toSRGB = [
        [3.1338561, -1.6168667, -0.4906146], [-0.9787684, 1.9161415, 0.0334540], [0.0719453, -0.2289914, 1.4052427],
    ]

    static let p3: [UInt8] = {
        func number(_ value: Int) -> [UInt8] { PNG.bigEndian(Int(UInt32(bitPattern: Int32(value)))) }
        func xyz(_ values: [Int]) -> [UInt8] { Array("XYZ ".utf8) + number(0) + values.flatMap(number) }
        let white = [0xF6D6, 0x10000, 0xD32D]
        let curve = Array("curv".utf8) + number(0) + number(1) + [2, 51, 0, 0]
        let name =
            Array("desc".utf8) + number(0) + number(3) + Array("P3\0".utf8)
            + [UInt8](repeating: 0, count: 4 + 4 + 2 + 1 + 67)
        let tags = [
            ("desc", name), ("cprt", Array("text".utf8) + number(0) + Array("test".utf8)), ("wtpt", xyz(white)),
            ("rXYZ", xyz(primaries[0])), ("gXYZ", xyz(primaries[1])), ("bXYZ", xyz(primaries[2])), ("rTRC", curve),
            ("gTRC", curve), ("bTRC", curve),
        ]
        var table = number(tags.count)
        var data: [UInt8] = []
        for (signature, bytes) in tags {
            table += Array(signature.utf8) + number(128 + 4 + 12 * tags.count + data.count) + number(bytes.count)
            data += bytes
            while data.count % 4 != 0 { data.append(0) }
        }
        var header = number(128 + table.count + data.count) + Array("none".utf8) + number(0x0210_0000)
        header += Array("mntrRGB XYZ ".utf8) + [UInt8](repeating: 0, count: 12) + Array("acsp".utf8)
        header += [UInt8](repeating: 0, count: 28) + white.flatMap(number)
        return header + [UInt8](repeating: 0, count: 128 - header.count) + table + data
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
