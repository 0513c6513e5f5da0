import DarkroomModel

/// Iterates over the fields of one CSV record (RFC 4180).
///
/// Tolerates common errors: skips spaces before an opening quote, and treats text that follows a closing quote as part
/// of the field.
struct SeparatedFields {
    /// A field of the record, without its enclosing quotes.
    struct Field {
        /// The bytes of the field. If `hasQuotes` is true, quotes are still doubled.
        let raw: UnsafeRawBufferPointer
        let hasQuotes: Bool
        /// The place of the field in the record, with its enclosing quotes.
        let range: Range<Int>
        /// Whether the field is enclosed in quotes.
        let isQuoted: Bool

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
    private let quotes: ListQuotes
    private var position = 0
    private var isAtEnd = false

    init(_ record: UnsafeRawBufferPointer, delimiter: UInt8, quotes: ListQuotes = .csv) {
        self.record = record
        self.delimiter = delimiter
        self.quotes = quotes
    }

    /// The number of fields of a record.
    static func count(_ record: UnsafeRawBufferPointer, delimiter: UInt8, quotes: ListQuotes) -> Int {
        var fields = SeparatedFields(record, delimiter: delimiter, quotes: quotes)
        var count = 0
        while fields.next() != nil { count += 1 }
        return count
    }

    /// The next field; nil after the last field.
    mutating func next() -> Field? {
        guard !isAtEnd else { return nil }
        var start = position
        if quotes == .csv {
            while start < record.count, record[start] == Byte.space { start += 1 }
            if start < record.count, record[start] == Byte.quote { return quoted(from: start + 1) }
            start = position
        }
        let range = start..<endOfField(from: start)
        return Field(raw: record.part(range), hasQuotes: false, range: range, isQuoted: false)
    }

    private mutating func quoted(from start: Int) -> Field {
        let first = position
        var closing = record.offset(of: Byte.quote, from: start) ?? record.count
        var hasQuotes = false
        while closing + 1 < record.count, record[closing + 1] == Byte.quote {
            hasQuotes = true
            closing = record.offset(of: Byte.quote, from: closing + 2) ?? record.count
        }
        let end = endOfField(from: min(closing + 1, record.count))
        let hasMore = end > closing + 1
        return Field(
            raw: record.part(start..<(hasMore ? end : closing)), hasQuotes: hasQuotes || hasMore, range: first..<end,
            isQuoted: true)
    }

    /// Finds the end of the field, starting at `start`. The next field begins after the delimiter.
    private mutating func endOfField(from start: Int) -> Int {
        let end = record.offset(of: delimiter, from: start) ?? record.count
        isAtEnd = end == record.count
        position = end + 1
        return end
    }
}
