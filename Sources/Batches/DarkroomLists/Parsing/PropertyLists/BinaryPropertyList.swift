import DarkroomModel

/// A binary property list, read without Foundation.
///
/// DESIGN. In a binary property list, many containers may refer to the same object, so that 164 bytes can describe
/// gigabytes. Foundation expands all references. A photo list needs only the top object and the texts to which it
/// refers. This type does not read deeper objects, so their size, depth and cycles do not matter. It reads one text at
/// a time from the bytes of the list. Because many entries may refer to the same text, the initializer adds up the
/// bytes of all entries, and throws if the sum is too large.
///
/// The format is described in Apple's `CFBinaryPList.c`: objects, a table of their offsets, and a trailer of 32 bytes.
struct BinaryPropertyList {
    /// The reason why the bytes are not a photo list.
    enum Problem: Error {
        /// The list is damaged; the associated value is the reason.
        case damaged(String)
        /// The top object is neither a dictionary nor an array; the associated value describes it.
        case notAList(String)
        /// The entries have too many bytes; the associated value is the number of bytes counted.
        case tooLarge(Int)
    }

    /// The maximum length of an accepted text: 1 MiB.
    private static let maxTextBytes = 1 << 20
    private static let trailerBytes = 32

    private enum Kind { case text, utf16, array, dictionary, other(String) }

    /// A text has `count` characters from the offset `start`. A container has `count` entries, whose references begin
    /// at `start`.
    private struct Object {
        let kind: Kind
        let start: Int
        let count: Int
    }

    private let bytes: [UInt8]
    private let offsetBytes: Int
    private let referenceBytes: Int
    private let objectCount: Int
    private let table: Int

    /// True for a dictionary, whose keys are unique.
    private(set) var isDictionary = false
    private var members = Object(kind: .array, start: 0, count: 0)
    /// The positions of a dictionary's entries, sorted by the bytes of their keys; nil for an array.
    private var order: [Int]?

    /// Returns nil if the bytes do not begin like a binary property list.
    init?(_ bytes: [UInt8], maxBytes: Int) throws(Problem) {
        guard bytes.starts(with: Array("bplist".utf8)) else { return nil }
        guard bytes.count >= 8 + Self.trailerBytes else { throw Problem.damaged("it has no trailer") }
        func number(_ start: Int) -> Int? { Self.number(in: bytes, at: bytes.count - Self.trailerBytes + start, 8) }
        guard let count = number(8), let top = number(16), let table = number(24), count > 0, top < count else {
            throw Problem.damaged("its trailer is invalid")
        }
        self.bytes = bytes
        (offsetBytes, referenceBytes) = (Int(bytes[bytes.count - 26]), Int(bytes[bytes.count - 25]))
        (objectCount, self.table) = (count, table)
        // Each object needs at least one byte and an offset, so these sums do not overflow.
        guard (1...8).contains(offsetBytes), (1...8).contains(referenceBytes), count <= bytes.count,
            table + count * offsetBytes + Self.trailerBytes == bytes.count
        else { throw Problem.damaged("its trailer is invalid") }
        try begin(with: object(top), maxBytes: maxBytes)
    }

    /// Passes the entries to `receive`. The entries of a dictionary, which has no order, are sorted by name.
    func parse(_ receive: PhotoListReceiver) throws(Problem) {
        var scratch = PhotoURL.Scratch()
        for position in 0..<members.count {
            guard let order else {
                try withURL(member(position)) { ListEntry.pass($0, &scratch, to: receive) }
                continue
            }
            let key = try object(member(order[position])), value = try member(members.count + order[position])
            try withURL(value) { url in withText(key) { receive(ListEntry(name: $0, url: url)) } }
        }
    }

    // MARK: The top object

    private mutating func begin(with top: Object, maxBytes: Int) throws(Problem) {
        switch top.kind {
        case .array: break
        case .dictionary: isDictionary = true
        case .text, .utf16: throw Problem.notAList("a string")
        case .other(let what): throw Problem.notAList(what)
        }
        members = top
        var total = 0
        for position in 0..<top.count * (isDictionary ? 2 : 1) {
            let member = try object(member(position))
            total += member.count * Self.bytesPerCharacter(member.kind)
            guard total <= maxBytes else { throw Problem.tooLarge(total) }
        }
        guard isDictionary else { return }
        var keys: [[UInt8]] = []
        var keyBytes = 0
        for position in 0..<top.count {
            let key = try object(member(position))
            if Self.bytesPerCharacter(key.kind) == 0 { throw Problem.damaged("a key of its dictionary is not text") }
            keys.append(withText(key) { Array($0) })
            keyBytes += keys[position].count
            // The list stores each unique key once, and a key in UTF-16 is at most 1.5 times as long in UTF-8.
            guard keyBytes <= 2 * bytes.count else { throw Problem.damaged("its keys share their bytes") }
        }
        let order = keys.indices.sorted { keys[$0].lexicographicallyPrecedes(keys[$1]) }
        for (one, next) in zip(order, order.dropFirst()) where keys[one] == keys[next] {
            let key = keys[one].withUnsafeBytes { $0.excerpt(maxBytes: 80) }
            throw Problem.damaged("the key \"\(key)\" occurs twice in its dictionary")
        }
        self.order = order
    }

    /// The number of the object that the top object refers to at `position`.
    private func member(_ position: Int) throws(Problem) -> Int {
        let start = members.start + position * referenceBytes
        guard let member = Self.number(in: bytes, at: start, referenceBytes) else {
            throw Problem.damaged("it refers to an object that does not exist")
        }
        return member
    }

    // MARK: Objects

    private func object(_ number: Int) throws(Problem) -> Object {
        guard number < objectCount,
            let offset = Self.number(in: bytes, at: table + number * offsetBytes, offsetBytes), offset < table
        else { throw Problem.damaged("it refers to an object that does not exist") }
        let marker = bytes[offset]
        if let what = try scalar(marker, offset) { return Object(kind: .other(what), start: offset, count: 0) }
        var (start, count) = (offset + 1, Int(marker & 15))
        if count == 15 {
            let length = start < table ? 1 << Int(bytes[start] & 15) : 0
            guard start < table, bytes[start] >> 4 == 1, length <= 8,
                let long = Self.number(in: bytes, at: start + 1, length)
            else { throw Problem.damaged("it has an object without a length") }
            (start, count) = (start + 1 + length, long)
        }
        let (kind, size): (Kind, Int) =
            switch marker >> 4 {
            case 5, 7: (.text, 1)  // ASCII, and UTF-8
            case 6: (.utf16, 2)
            case 10: (.array, referenceBytes)
            default: (.dictionary, 2 * referenceBytes)
            }
        guard count <= (table - min(start, table)) / size else {
            throw Problem.damaged("one of its objects is truncated")
        }
        return Object(kind: kind, start: start, count: count)
    }

    /// A description of an object that is neither a text nor a container; nil for texts and containers.
    private func scalar(_ marker: UInt8, _ offset: Int) throws(Problem) -> String? {
        switch marker >> 4 {
        case 5, 6, 7, 10, 13: return nil
        case 0 where marker == 8: return "false"
        case 0 where marker == 9: return "true"
        case 1:
            let length = 1 << Int(marker & 15)
            guard length <= 8, offset + 1 + length <= table else { break }
            let value = bytes[offset + 1..<offset + 1 + length].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return "the number \(length == 8 ? "\(Int64(bitPattern: value))" : "\(value)")"
        case 2: return "a number"
        case 3: return "a date"
        case 4: return "data"
        default: break
        }
        return "a value of another kind"
    }

    /// The maximum number of UTF-8 bytes for a character of a text; 0 if the object is not a text.
    private static func bytesPerCharacter(_ kind: Kind) -> Int {
        switch kind {
        case .text: 1
        case .utf16: 3
        case .array, .dictionary, .other: 0
        }
    }

    /// Calls `body` with the trimmed text of an object. If the object is not a text, `body` gets a description of the
    /// object. The description is not a valid URL, so the photo fails with it.
    private func withURL(_ number: Int, _ body: (UnsafeRawBufferPointer) -> Void) throws(Problem) {
        let object = try object(number)
        var what: String
        switch object.kind {
        case .text, .utf16:
            guard object.count > Self.maxTextBytes else { return withText(object) { body($0.trimmedOfSpace) } }
            what = "URL of \(object.count) characters, too long"
        case .array: what = "an array in place of a URL"
        case .dictionary: what = "a dictionary in place of a URL"
        case .other(let kind): what = "\(kind) in place of a URL"
        }
        what.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }

    private func withText<Result>(_ object: Object, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard case .utf16 = object.kind else {
            return bytes.withUnsafeBytes { body($0.part(object.start..<object.start + object.count)) }
        }
        let units = (0..<object.count).map { index in
            UInt16(bytes[object.start + 2 * index]) << 8 | UInt16(bytes[object.start + 2 * index + 1])
        }
        var text = String(decoding: units, as: UTF16.self)
        return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }

    /// Reads a big-endian number. Returns nil if its bytes are outside the list, or its value exceeds the list's size.
    private static func number(in bytes: [UInt8], at start: Int, _ count: Int) -> Int? {
        guard start >= 0, start + count <= bytes.count else { return nil }
        let value = bytes[start..<start + count].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return value <= UInt64(bytes.count) ? Int(value) : nil
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes without leading and trailing white space.
    fileprivate var trimmedOfSpace: UnsafeRawBufferPointer {
        func isSpace(_ byte: UInt8) -> Bool { Byte.isBlank(byte) || (10...13).contains(byte) }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return part(0..<0)
        }
        return part(first..<last + 1)
    }
}
