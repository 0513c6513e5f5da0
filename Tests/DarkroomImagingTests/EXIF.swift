/// Writes EXIF data (CIPA DC-008).
enum EXIF {
    private static func bytes(_ number: Int, _ count: Int, bigEndian: Bool) -> [UInt8] {
        let little = (0..<count).map { UInt8(number >> (8 * $0) & 255) }
        return bigEndian ? little.reversed() : little
    }

    /// The entries of ``complete(bigEndian:)`` for the width, as LONG, and the height, as SHORT.
    static func size(width: Int, height: Int, bigEndian: Bool) -> [[UInt8]] {
        func bytes(_ number: Int, _ count: Int) -> [UInt8] { Self.bytes(number, count, bigEndian: bigEndian) }
        return [
            bytes(0xA002, 2) + bytes(4, 2) + bytes(1, 4) + bytes(width, 4),
            bytes(0xA003, 2) + bytes(3, 2) + bytes(1, 4) + bytes(height, 2),
        ]
    }

    /// The bytes of an APP1 marker with camera, author, copyright, exposure, a size of 4000 x 3000, position and a tag
    /// without a name. Every text is unique.
    static func complete(bigEndian: Bool) -> [UInt8] {
        func bytes(_ number: Int, _ count: Int) -> [UInt8] { Self.bytes(number, count, bigEndian: bigEndian) }
        var tiff: [UInt8] = (bigEndian ? Array("MM".utf8) : Array("II".utf8)) + bytes(42, 2) + bytes(8, 4)

        /// Appends a directory. Values of more than four bytes follow it.
        func append(_ entries: [(tag: Int, type: Int, count: Int, value: [UInt8])]) {
            var data = tiff.count + 2 + 12 * entries.count + 4
            tiff += bytes(entries.count, 2)
            var values: [UInt8] = []
            for entry in entries {
                tiff += bytes(entry.tag, 2) + bytes(entry.type, 2) + bytes(entry.count, 4)
                if entry.value.count <= 4 {
                    tiff += entry.value + [UInt8](repeating: 0, count: 4 - entry.value.count)
                } else {
                    tiff += bytes(data, 4)
                    values += entry.value
                    data += entry.value.count
                }
            }
            tiff += bytes(0, 4) + values
        }
        func text(_ tag: Int, _ value: String) -> (tag: Int, type: Int, count: Int, value: [UInt8]) {
            (tag, 2, value.utf8.count + 1, Array(value.utf8) + [0])
        }
        func rational(_ tag: Int, _ values: [Int]) -> (tag: Int, type: Int, count: Int, value: [UInt8]) {
            (tag, 5, values.count, values.flatMap { bytes($0, 4) + bytes(1, 4) })
        }
        // The positions of the two further directories follow from the sizes of the earlier ones.
        let first = [text(0x110, "Model of the camera"), text(0x13B, "Ann Author"), text(0x8298, "Copyright of Ann")]
        let size = first.reduce(2 + 12 * 5 + 4) { $0 + $1.value.count }
        let exposure: [(tag: Int, type: Int, count: Int, value: [UInt8])] = [
            text(0x9003, "2026:01:02 03:04:05"), (0xA002, 4, 1, bytes(4000, 4)), (0xA003, 3, 1, bytes(3000, 2)),
            text(0xA430, "Owner of the camera"),
        ]
        let second = 8 + size
        // Values of at most four bytes are in the entries.
        let long = exposure.filter { $0.value.count > 4 }
        let third = long.reduce(second + 2 + 12 * exposure.count + 4) { $0 + $1.value.count }
        append(first + [(0x8769, 4, 1, bytes(second, 4)), (0x8825, 4, 1, bytes(third, 4))])
        append(exposure)
        append([
            text(1, "N"), rational(2, [0x5EC4E7, 21, 33]), text(3, "E"), rational(4, [0x5EC4E8, 21, 33]),
            text(27, "GPS secret method"), text(0x77, "GPS secret of no name"),
        ])
        return Array("Exif\0\0".utf8) + tiff
    }
}
