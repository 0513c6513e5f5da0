import DarkroomModel

/// The lines of a record with a quoted field that contains line ends. The lines count as rows, and a quotation mark as
/// part of a text, in these cases:
///
/// - At least two lines have all columns and a URL.
/// - A line after the first has all columns, and a URL in the quoted field.
/// - A quotation mark is at a place where RFC 4180 does not allow it, and a field within the quoted field is a URL.
/// - All lines have all columns, and the list is usually literal.
///
/// A path counts as a URL.
struct QuotedLines {
    /// Whether the lines are rows.
    let areRows: Bool
    /// Whether a field within a quoted field is a URL.
    let haveQuotedURL: Bool

    init(_ record: UnsafeRawBufferPointer, _ layout: SeparatedListParser.Layout, columns: Int) {
        var state = QuotedFieldState.start
        var position = 0
        var isRegular = true
        func advance(to end: Int) {
            for byte in record[position..<end] {
                let wasClosed = state == .quoteWithinQuoted
                state.advance(over: byte, delimiter: layout.delimiter)
                if wasClosed, state == .plain, !Self.mayFollowQuote(byte) { isRegular = false }
            }
            position = end
        }
        var (withURL, areComplete, haveQuotedRow, haveQuotedURL) = (0, true, false, false)
        Self.forEach(of: record) { range in
            let line = record.part(range)
            var fields = SeparatedFields(
                line, delimiter: layout.delimiter, quotes: Self.quotes(of: line, layout.delimiter))
            var count = 0
            var hasURL = false, isQuoted = false
            while let field = fields.next() {
                let text = field.raw.trimmed
                if PhotoURL.authorityStart(text) != nil || LocalPath.isOne(text) {
                    advance(to: range.lowerBound + field.range.lowerBound)
                    if state == .quoted { haveQuotedURL = true }
                    if count == layout.urlColumn { (hasURL, isQuoted) = (true, state == .quoted) }
                }
                count += 1
            }
            areComplete = areComplete && count == columns
            guard hasURL, count == columns else { return }
            withURL += 1
            if isQuoted, range.lowerBound > 0 { haveQuotedRow = true }
        }
        advance(to: record.count)
        areRows =
            withURL > 1 || haveQuotedRow || haveQuotedURL && !isRegular || areComplete && layout.isUsuallyLiteral
        self.haveQuotedURL = haveQuotedURL
    }

    /// Whether a byte that is not a delimiter may follow a closing quotation mark: the byte is a blank or belongs to a
    /// line end.
    private static func mayFollowQuote(_ byte: UInt8) -> Bool {
        Byte.isBlank(byte) || byte == Byte.carriageReturn || byte == Byte.lineFeed
    }

    /// The meaning of the quotation marks in a line that is a whole row. The marks are text if the last quoted field
    /// has no end.
    static func quotes(of line: UnsafeRawBufferPointer, _ delimiter: UInt8) -> ListQuotes {
        var end = QuotedFieldState.start
        for byte in line { end.advance(over: byte, delimiter: delimiter) }
        return end == .quoted ? .literal : .csv
    }

    /// Calls `body` with the range of each line, without its line end.
    static func forEach(of record: UnsafeRawBufferPointer, _ body: (Range<Int>) -> Void) {
        var start = 0
        while start <= record.count {
            let end = record.offset(of: Byte.lineFeed, from: start) ?? record.count
            let isCarriageReturn = end > start && record[end - 1] == Byte.carriageReturn
            body(start..<(isCarriageReturn ? end - 1 : end))
            start = end + 1
        }
    }
}
