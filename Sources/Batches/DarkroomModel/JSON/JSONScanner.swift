/// Scans JSON (RFC 8259) byte by byte and decodes only the requested values. Also accepts the numbers `NaN`, `Infinity`
/// and `-Infinity`, which Python writes.
@usableFromInline package struct JSONScanner {
    package enum Kind { case string, object, array, number, literal }

    /// Invalid JSON: its offset, and a description of the bytes found there.
    package struct Failure: Error {
        package let offset: Int
        package let message: String
        /// True if the bytes ended too early, so that the JSON could become valid with more bytes.
        package let isAtEnd: Bool
    }

    /// A string: the bytes between its quotes, not yet unescaped.
    @usableFromInline package struct Text {
        @usableFromInline package let raw: UnsafeRawBufferPointer
        @usableFromInline package let hasEscapes: Bool

        package init(raw: UnsafeRawBufferPointer, hasEscapes: Bool) {
            self.raw = raw
            self.hasEscapes = hasEscapes
        }

        /// Calls `body` with the unescaped bytes, which may be stored in `scratch`.
        @inlinable package func withBytes<Result>(
            _ scratch: inout [UInt8], _ body: (UnsafeRawBufferPointer) throws -> Result
        ) rethrows -> Result {
            guard hasEscapes else { return try body(raw) }
            JSONEscapes.resolve(raw, into: &scratch)
            return try scratch.withUnsafeBytes(body)
        }
    }

    /// The maximum nesting depth. Deeper nesting is an error, because it could overflow the stack.
    private static let maxDepth = 512

    package let bytes: UnsafeRawBufferPointer
    package private(set) var position = 0

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Returns the next byte that is not white space, without consuming it; nil at the end.
    package mutating func peek() -> UInt8? {
        while position < bytes.count {
            switch bytes[position] {
            case Byte.space, Byte.tab, Byte.lineFeed, Byte.carriageReturn: position += 1
            case let byte: return byte
            }
        }
        return nil
    }

    package mutating func kind() throws(Failure) -> Kind {
        switch peek() ?? 0 {
        case Byte.quote: .string
        case UInt8(ascii: "{"): .object
        case UInt8(ascii: "["): .array
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "N"), UInt8(ascii: "I"): .literal
        default: throw failure("a value")
        }
    }

    /// Consumes `byte` if it is the next byte after white space. Returns true if `byte` was consumed.
    package mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        position += 1
        return true
    }

    /// Consumes `byte`. Throws if the next byte after white space is not `byte`.
    package mutating func expect(_ byte: UInt8) throws(Failure) {
        guard take(byte) else { throw failure("\"\(Character(UnicodeScalar(byte)))\"") }
    }

    package mutating func string() throws(Failure) -> Text {
        try expect(Byte.quote)
        let start = position
        var hasEscapes = false
        var search = start
        while let quote = bytes.offset(of: Byte.quote, from: search) {
            // A quote after an odd number of backslashes is part of the string.
            var backslashes = 0
            while quote - backslashes > start, bytes[quote - backslashes - 1] == Byte.backslash { backslashes += 1 }
            if backslashes % 2 == 0 {
                hasEscapes = hasEscapes || bytes.part(start..<quote).offset(of: Byte.backslash) != nil
                position = quote + 1
                return Text(raw: bytes.part(start..<quote), hasEscapes: hasEscapes)
            }
            hasEscapes = true
            search = quote + 1
        }
        throw Failure(offset: start - 1, message: "a string that is not closed", isAtEnd: true)
    }

    /// Skips any value. `onKey` is called for every key of the objects in the value.
    package mutating func skipValue(depth: Int = 0, onKey: (Text) -> Void = { _ in }) throws(Failure) {
        guard depth < Self.maxDepth else {
            throw Failure(offset: position, message: "more than \(Self.maxDepth) levels of nesting", isAtEnd: false)
        }
        switch try kind() {
        case .string: _ = try string()
        case .number: skipWord()
        case .literal: try skipLiteral()
        case .object:
            try members { (scanner, key) throws(Failure) in
                onKey(key)
                try scanner.skipValue(depth: depth + 1, onKey: onKey)
            }
        case .array:
            try elements { (scanner) throws(Failure) in try scanner.skipValue(depth: depth + 1, onKey: onKey) }
        }
    }

    /// Reads an object. `body` is called for each key, and must read the value of the key.
    package mutating func members(_ body: (inout JSONScanner, Text) throws(Failure) -> Void) throws(Failure) {
        try expect(UInt8(ascii: "{"))
        if take(UInt8(ascii: "}")) { return }
        repeat {
            let key = try string()
            try expect(Byte.colon)
            try body(&self, key)
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw failure("\",\" or \"}\"") }
    }

    /// Reads an array. `body` is called for each element, and must read the element.
    package mutating func elements(_ body: (inout JSONScanner) throws(Failure) -> Void) throws(Failure) {
        try expect(UInt8(ascii: "["))
        if take(UInt8(ascii: "]")) { return }
        repeat { try body(&self) } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw failure("\",\" or \"]\"") }
    }

    /// Skips a value. Returns a description of the value, which is used in place of a URL.
    package mutating func describeValue() throws(Failure) -> String {
        let kind = try kind(), start = position
        try skipValue()
        return switch kind {
        case .object: "an object"
        case .array: "an array"
        case .number: "the number \(bytes.part(start..<position).excerpt(maxBytes: 40))"
        case .literal, .string: bytes.part(start..<position).excerpt(maxBytes: 40)
        }
    }

    package mutating func failure(_ expected: String) -> Failure {
        guard let byte = peek() else {
            return Failure(offset: position, message: "the end, expected \(expected)", isAtEnd: true)
        }
        let found = bytes.part(position..<min(position + 20, bytes.count)).excerpt()
        return Failure(
            offset: position, message: byte < 128 ? "\(found), expected \(expected)" : "no JSON, expected \(expected)",
            isAtEnd: false)
    }

    private mutating func skipWord() {
        while position < bytes.count, Byte.isOfWord(bytes[position]) { position += 1 }
    }

    private mutating func skipLiteral() throws(Failure) {
        let start = position
        skipWord()
        let word = bytes.part(start..<position)
        guard ["true", "false", "null", "NaN", "Infinity"].contains(where: { word.elementsEqual($0.utf8) }) else {
            let isAtEnd = position == bytes.count
            throw Failure(offset: start, message: "\(word.excerpt(maxBytes: 40)), expected a value", isAtEnd: isAtEnd)
        }
    }
}
