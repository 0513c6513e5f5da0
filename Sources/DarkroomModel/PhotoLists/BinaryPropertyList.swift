/// What has to hold before Foundation may read a binary property list from a stranger: sets (of which no list consists) and deep
/// nesting would crash it.
///
/// The format is that of Apple's `CFBinaryPList.c`: objects, a table of their offsets, and a trailer of 32 bytes.
struct BinaryPropertyList {
    private static let maxDepth = 512

    private let bytes: [UInt8]
    private let offsetBytes: Int
    private let referenceBytes: Int
    private let objectCount: Int
    private let table: Int

    /// Nil where the trailer makes no sense, which Foundation says too.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: Array("bplist".utf8)), bytes.count >= 40 else { return nil }
        self.bytes = bytes
        func number(_ range: Range<Int>) -> Int? {
            let value = range.reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[bytes.count - 32 + $1]) }
            return value <= UInt64(bytes.count) ? Int(value) : nil
        }
        guard let count = number(8..<16), let table = number(24..<32) else { return nil }
        (offsetBytes, referenceBytes) = (Int(bytes[bytes.count - 26]), Int(bytes[bytes.count - 25]))
        (objectCount, self.table) = (count, table)
        guard (1...8).contains(offsetBytes), (1...8).contains(referenceBytes), count > 0,
            count <= (bytes.count - 32 - min(table, bytes.count - 32)) / offsetBytes
        else { return nil }
    }

    /// What Foundation must not be given, nil where it may read the list.
    func problem() -> String? {
        // Each level of containers by the objects that the level above it names; the same object many times costs once.
        var level = Set([top])
        var depth = 0
        for object in 0..<objectCount where !isKnown(object) {
            return "it holds an object of another kind than lists have"
        }
        while !level.isEmpty {
            depth += 1
            if depth > Self.maxDepth { return "more than \(Self.maxDepth) levels of nesting" }
            level = Set(level.flatMap(members))
        }
        return nil
    }

    private var top: Int { number(at: bytes.count - 16, 8) ?? 0 }

    /// Null and Boolean, integer, real, date, data, text, UTF-16 text, UID, array, dictionary.
    private func isKnown(_ object: Int) -> Bool {
        guard let offset = offset(of: object) else { return true }  // Foundation refuses it
        return [0, 1, 2, 3, 4, 5, 6, 8, 0xA, 0xD].contains(bytes[offset] >> 4)
    }

    /// The objects that a container holds.
    private func members(of object: Int) -> [Int] {
        guard let offset = offset(of: object), bytes[offset] >> 4 == 0xA || bytes[offset] >> 4 == 0xD else { return [] }
        var start = offset + 1
        var count = Int(bytes[offset] & 15)
        if count == 15 {
            guard start < bytes.count, bytes[start] >> 4 == 1 else { return [] }
            let length = 1 << Int(bytes[start] & 15)
            guard length <= 8, let found = number(at: start + 1, length) else { return [] }
            count = found
            start += 1 + length
        }
        guard count <= bytes.count else { return [] }
        if bytes[offset] >> 4 == 0xD { count *= 2 }
        guard count <= (bytes.count - start) / referenceBytes else { return [] }
        return (0..<count).compactMap { number(at: start + $0 * referenceBytes, referenceBytes) }
    }

    private func offset(of object: Int) -> Int? {
        guard object < objectCount, let offset = number(at: table + object * offsetBytes, offsetBytes) else {
            return nil
        }
        return offset < bytes.count ? offset : nil
    }

    /// A big-endian number; nil where it lies outside of the list or is larger than the list.
    private func number(at start: Int, _ count: Int) -> Int? {
        guard start >= 0, start + count <= bytes.count else { return nil }
        let value = bytes[start..<start + count].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return value <= UInt64(bytes.count) ? Int(value) : nil
    }
}
