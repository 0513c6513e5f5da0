/// Writes colour profiles (ICC.1, version 2).
enum ICCProfile {
    /// The white of D50.
    static let white = [0xF6D6, 0x10000, 0xD32D]

    /// - Parameters:
    ///   - space: The signature of the colour space, of four characters.
    ///   - tags: The tags of the profile. The tags for description, copyright and white point are added.
    static func file(space: String, tags: [(signature: String, bytes: [UInt8])]) -> [UInt8] {
        let description =
            Array("desc".utf8) + number(0) + number(5) + Array("test\0".utf8)
            + [UInt8](repeating: 0, count: 4 + 4 + 2 + 1 + 67)
        let copyright = Array("text".utf8) + number(0) + Array("test\0".utf8)
        let all = [("desc", description), ("cprt", copyright), ("wtpt", xyz(white))] + tags
        var table = number(all.count)
        var data: [UInt8] = []
        for (signature, bytes) in all {
            table += Array(signature.utf8) + number(128 + 4 + 12 * all.count + data.count) + number(bytes.count)
            data += bytes
            while data.count % 4 != 0 { data.append(0) }
        }
        var header = number(128 + table.count + data.count) + Array("none".utf8) + number(0x0210_0000)
        header += Array("mntr\(space)XYZ ".utf8) + [UInt8](repeating: 0, count: 12) + Array("acsp".utf8)
        header += [UInt8](repeating: 0, count: 28) + white.flatMap(number)
        return header + [UInt8](repeating: 0, count: 128 - header.count) + table + data
    }

    static func xyz(_ values: [Int]) -> [UInt8] { Array("XYZ ".utf8) + number(0) + values.flatMap(number) }

    /// A curve with a gamma of `whole` + `part`/256.
    static func curve(whole: UInt8, part: UInt8) -> [UInt8] {
        Array("curv".utf8) + number(0) + number(1) + [whole, part, 0, 0]
    }

    private static func number(_ value: Int) -> [UInt8] { PNG.bigEndian(Int(UInt32(bitPattern: Int32(value)))) }
}

/// A grey colour profile with linear light, that is, gamma 1.
enum GreyProfile {
    static let linear = ICCProfile.file(space: "GRAY", tags: [("kTRC", ICCProfile.curve(whole: 1, part: 0))])
}
