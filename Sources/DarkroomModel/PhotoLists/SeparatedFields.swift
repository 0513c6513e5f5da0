/// Iterates over the fields of one CSV record (RFC 4180).
///
/// Tolerates common errors: skips spaces before an opening quote, and adds text after a closing quote to the field.
struct SeparatedFields {
    /// A field of the record, without its enclosing quotes.
    struct Field {
        /// The bytes of the field. If `hasQuotes` is true, quotes are still doubled.
        let raw: UnsafeRawBufferPointer
        let hasQuotes: Bool

        /// Calls `body` with the text of the field. The text may be stored in `scratch`.
        func withText<Result>(_ scratch: inout [UInt8], _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            guard hasQuotes else { return body(raw) }
            scratch.removeAll(keepingCapacity: true)
            var position = 0
            while position < raw.count {
                if raw[position] == Byte.quote { position += 1 }
                guard position < raw.count else { break }
                scratch.append(raw[position])
                position += 1
            }
            return scratch.withUnsafeBytes(body)
        }
    }

    private let record: UnsafeRawBufferPointer
    private let delimiter: UInt8
    private var position = 0
    private var isAtEnd = false

    init(_ record: UnsafeRawBufferPointer, delimiter: UInt8) {
        self.record = record
        self.delimiter = delimiter
    }

    /// The next field; nil after the last field.
    mutating func next() -> Field? {
        guard !isAtEnd else { return nil }
        var start = position
        while start < record.count, record[start] == Byte.space { start += 1 }
        if start < record.count, record[start] == Byte.quote { return quoted(from: start + 1) }
        start = position
        return Field(raw: record.part(start..<endOfField(from: start)), hasQuotes: false)
    }

    private mutating func quoted(from start: Int) -> Field {
        var closing = record.offset(of: Byte.quote, from: start) ?? record.count
        var hasQuotes = false
        while closing + 1 < record.count, record[closing + 1] == Byte.quote {
            hasQuotes = true
            closing = record.offset(of: Byte.quote, from: closing + 2) ?? record.count
        }
        let end = endOfField(from: min(closing + 1, record.count))
        if end <= closing + 1 { return Field(raw: record.part(start..<closing), hasQuotes: hasQuotes) }
        return Field(raw: record.part(start..<end), hasQuotes: true)
    }

    /// Finds the end of the field, starting at `start`. The next field begins after the delimiter.
    private mutating func endOfField(from start: Int) -> Int {
        let end = record.offset(of: delimiter, from: start) ?? record.count
        isAtEnd = end == record.count
        position = end + 1
        return end
    }
}
