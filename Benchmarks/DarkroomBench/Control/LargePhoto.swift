import Darkroom
import DarkroomImaging
import DarkroomRecipes

/// A detailed 12-megapixel picture, for measurements with a photo whose filtration takes long.
enum LargePhoto {
    private static let width = 4000
    private static let height = 3000

    static func file(_ format: ImageFormat) throws -> [UInt8] {
        let developed = try Imaging.develop(tiff(), DevelopOptions(filters: [], format: format))[0]
        return developed.withUnsafeBytes { Array($0) }
    }

    /// The picture as an uncompressed TIFF, the simplest format to write
    /// (https://www.itu.int/itudoc/itu-t/com16/tiff-fx/docs/tiff6.pdf, section 2).
    private static func tiff() -> [UInt8] {
        let entries: [(tag: Int, type: Int, count: Int, value: Int)] = [
            (256, 4, 1, width), (257, 4, 1, height), (258, 3, 3, 8 + 2 + 9 * 12 + 4), (259, 3, 1, 1), (262, 3, 1, 2),
            (273, 4, 1, 8 + 2 + 9 * 12 + 4 + 6), (277, 3, 1, 3), (278, 4, 1, height), (279, 4, 1, width * height * 3),
        ]
        var bytes: [UInt8] = []
        bytes.reserveCapacity(width * height * 3 + 256)
        func append(_ value: Int, _ count: Int) {
            for byte in 0..<count { bytes.append(UInt8(value >> (8 * byte) & 255)) }
        }
        bytes += "II".utf8
        append(42, 2)
        append(8, 4)
        append(entries.count, 2)
        for entry in entries {
            append(entry.tag, 2)
            append(entry.type, 2)
            append(entry.count, 4)
            append(entry.value, 4)
        }
        append(0, 4)
        for _ in 1...3 { append(8, 2) }
        var noise: UInt32 = 1
        for y in 0..<height {
            for x in 0..<width {
                noise = noise &* 1_664_525 &+ 1_013_904_223
                let grain = Int(noise >> 28)
                bytes.append(UInt8(truncatingIfNeeded: x / 16 + grain))
                bytes.append(UInt8(truncatingIfNeeded: y / 12 + grain))
                bytes.append(UInt8(truncatingIfNeeded: (x + y) / 28 + grain))
            }
        }
        return bytes
    }
}
