import Foundation

/// The parts of files that contain metadata. Does not use the code under test.
enum FileParts {
    struct Part {
        /// The number of the marker, or the name of the chunk.
        let name: String
        let bytes: [UInt8]
    }

    /// The segments of a JPEG before its first scan.
    static func segments(_ file: [UInt8]) -> [Part] {
        var parts: [Part] = []
        var offset = 2
        while offset + 4 <= file.count, file[offset] == 0xFF, file[offset + 1] != 0xDA {
            let length = Int(file[offset + 2]) << 8 | Int(file[offset + 3])
            guard length >= 2, offset + 2 + length <= file.count else { break }
            let name = String(file[offset + 1], radix: 16)
            parts.append(Part(name: name, bytes: Array(file[offset + 4..<offset + 2 + length])))
            offset += 2 + length
        }
        return parts
    }

    /// The chunks of a PNG.
    static func chunks(_ file: [UInt8]) -> [Part] {
        var parts: [Part] = []
        var offset = 8
        while offset + 12 <= file.count {
            let length = file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard offset + 12 + length <= file.count else { break }
            let name = String(decoding: file[offset + 4..<offset + 8], as: UTF8.self)
            parts.append(Part(name: name, bytes: Array(file[offset + 8..<offset + 8 + length])))
            offset += 12 + length
        }
        return parts
    }

    /// The EXIF of a JPEG, from its TIFF header; nil if there is none.
    static func exif(_ jpeg: [UInt8]) -> [UInt8]? {
        segments(jpeg).first { $0.name == "e1" && $0.bytes.starts(with: Array("Exif\0\0".utf8)) }
            .map { Array($0.bytes.dropFirst(6)) }
    }

    private static let xmpName = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    private static let extendedName = Array("http://ns.adobe.com/xmp/extension/\0".utf8)

    /// The XMP packet of a JPEG; nil if there is none.
    static func xmp(_ jpeg: [UInt8]) -> String? {
        segments(jpeg).first { $0.bytes.starts(with: xmpName) }
            .map { String(decoding: $0.bytes.dropFirst(xmpName.count), as: UTF8.self) }
    }

    /// The identifiers and the joined text of the extended XMP of a JPEG.
    static func extendedXMP(_ jpeg: [UInt8]) -> (identifiers: Set<String>, text: [UInt8]) {
        let parts = segments(jpeg).filter { $0.bytes.starts(with: extendedName) }
        let start = extendedName.count
        let identifiers = Set(parts.map { String(decoding: $0.bytes[start..<start + 32], as: UTF8.self) })
        return (identifiers, parts.flatMap { $0.bytes.dropFirst(start + 40) })
    }

    /// The segments of an extended XMP, with its identifier.
    static func extendedXMP(_ text: [UInt8], identifier: String, partBytes: Int) -> [(code: UInt8, bytes: [UInt8])] {
        func number(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) } }
        return stride(from: 0, to: text.count, by: partBytes).map { position in
            let part = text[position..<min(position + partBytes, text.count)]
            return (0xE1, extendedName + Array(identifier.utf8) + number(text.count) + number(position) + part)
        }
    }

    static func xmpSegment(_ xmp: String) -> (code: UInt8, bytes: [UInt8]) { (0xE1, xmpName + Array(xmp.utf8)) }

    /// The whole numbers of the first directory of EXIF, by tag.
    static func numbers(_ exif: [UInt8]) -> [Int: Int] {
        func number(_ at: Int, _ count: Int) -> Int {
            let field = exif[at..<at + count]
            return (exif[0] == 0x4D ? Array(field) : field.reversed()).reduce(0) { $0 << 8 | Int($1) }
        }
        let start = number(4, 4)
        var numbers: [Int: Int] = [:]
        for entry in 0..<number(start, 2) {
            let at = start + 2 + 12 * entry
            let bytes = [1: 1, 3: 2, 4: 4, 6: 1, 8: 2, 9: 4][number(at + 2, 2)]
            if let bytes, number(at + 4, 4) == 1 { numbers[number(at, 2)] = number(at + 8, bytes) }
        }
        return numbers
    }
}
