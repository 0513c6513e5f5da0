import DarkroomModel

/// CSV and TSV (RFC 4180): one record per photo. One column contains the URL, and another column may contain the name.
struct SeparatedListParser: RecordReceiver {
    /// The columns of a list, detected from its beginning.
    struct Layout: Equatable, Sendable {
        /// The delimiter of fields. If there is only one column, this is a byte that does not occur in text.
        var delimiter: UInt8
        /// The column with the URLs, from 0.
        var urlColumn: Int
        /// The column with the names, from 0; nil if names are taken from the URLs.
        var nameColumn: Int?
        /// True if the first record is a header.
        var hasHeader: Bool
        /// The number of lines before the first record, excluding blank lines: comments, and the line `sep=;`.
        var linesBefore = 0
        /// The offset of the first record in the list.
        var start = 0
        /// The reading of quotation marks.
        var quotes = ListQuotes.csv
        /// Whether the user has chosen ``quotes``.
        var quotesAreChosen = false
        /// The number of columns; nil if it is unknown.
        var columns: Int?
        /// Whether fields of the header begin with a space.
        var hasSpaces = false
        /// Whether the URLs of the list usually end like the names of pictures; nil if this is unknown.
        var endLikePictures: Bool?
        /// A sentence that tells the user which columns were guessed; nil if no columns were guessed.
        var guess: ListRemark?

        /// Whether lists with this delimiter are usually written without quoting. In such a list, a quotation mark that
        /// is not closed is a part of a text.
        var isUsuallyLiteral: Bool { delimiter == Byte.tab || delimiter == Byte.bar || delimiter == 0 }
    }

    /// A remark for the user about the first unusual quoted field; nil if there is none.
    private(set) var remark: ListRemark?

    private let layout: Layout
    /// Whether the next record is the header.
    private var isAtHeader: Bool
    private var fields: [SeparatedFields.Field] = []
    private var scratch = PhotoURL.Scratch()
    private var urlScratch: [UInt8] = []
    private var nameScratch: [UInt8] = []

    init(_ layout: Layout) {
        self.layout = layout
        isAtHeader = layout.hasHeader
    }

    mutating func take(_ record: UnsafeRawBufferPointer, line: Int, _ receive: PhotoListReceiver) {
        guard record.contains(where: { !Byte.isBlank($0) }) else { return }
        guard !isAtHeader else { return header(record, line: line, receive) }
        guard layout.quotes == .csv, record.offset(of: Byte.quote) != nil else {
            return row(record, .literal, line: line, receive)
        }
        guard !layout.quotesAreChosen, let columns = layout.columns else {
            return row(record, .csv, line: line, receive)
        }
        let quoted = count(record, .csv)
        guard record.offset(of: Byte.lineFeed) != nil else {
            let isLiteral = quoted != columns && count(record, .literal) == columns
            return row(record, isLiteral ? .literal : .csv, line: line, receive)
        }
        let lines = QuotedLines(record, layout, columns: columns)
        guard !lines.areRows else { return rows(record, line: line, receive) }
        if quoted != columns {
            note(
                "line \(line): a quoted field has line ends, and its row then has \(quoted) fields in place of \(columns)"
            )
        } else if lines.haveQuotedURL {
            note("line \(line): a quoted field has line ends, and one of its lines has a URL or a path")
        }
        row(record, .csv, line: line, receive)
    }

    /// Skips the header. If a quotation mark in the header is not closed, the other lines of the record are rows.
    private mutating func header(_ record: UnsafeRawBufferPointer, line: Int, _ receive: PhotoListReceiver) {
        isAtHeader = false
        guard let end = record.offset(of: Byte.lineFeed), isSeveralRows(record) else { return }
        rows(record.part(end + 1..<record.count), line: line + 1, receive)
    }

    /// Reads a record as several rows, because a quoted field in the record is not closed or is too long.
    mutating func takeUnclosed(
        _ record: UnsafeRawBufferPointer, isClosed: Bool, line: Int, _ receive: PhotoListReceiver
    ) -> Bool {
        guard !layout.quotesAreChosen else { return false }
        guard layout.isUsuallyLiteral || isClosed && isSeveralRows(record) else { return false }
        if isAtHeader { header(record, line: line, receive) } else { rows(record, line: line, receive) }
        return true
    }

    private func count(_ record: UnsafeRawBufferPointer, _ quotes: ListQuotes) -> Int {
        SeparatedFields.count(record, delimiter: layout.delimiter, quotes: quotes)
    }

    // MARK: Records that are several rows

    private func isSeveralRows(_ record: UnsafeRawBufferPointer) -> Bool {
        guard !layout.quotesAreChosen, let columns = layout.columns else { return false }
        return QuotedLines(record, layout, columns: columns).areRows
    }

    private mutating func rows(_ record: UnsafeRawBufferPointer, line first: Int, _ receive: PhotoListReceiver) {
        note("line \(first): a field begins with a quotation mark, which is read as a part of the text")
        var line = first
        QuotedLines.forEach(of: record) { range in
            let text = record.part(range)
            if text.contains(where: { !Byte.isBlank($0) }) {
                row(text, QuotedLines.quotes(of: text, layout.delimiter), line: line, receive)
            }
            line += 1
        }
    }

    private mutating func note(_ text: String) {
        guard remark == nil else { return }
        remark = ListRemark(text, .chooseQuotes)
    }

    // MARK: Rows

    private mutating func row(
        _ record: UnsafeRawBufferPointer, _ quotes: ListQuotes, line: Int, _ receive: PhotoListReceiver
    ) {
        fields.removeAll(keepingCapacity: true)
        var reader = SeparatedFields(record, delimiter: layout.delimiter, quotes: quotes)
        while let field = reader.next() { fields.append(field) }
        let none = SeparatedFields.Field(raw: record.part(0..<0), hasQuotes: false, range: 0..<0, isQuoted: false)
        func field(_ column: Int?) -> SeparatedFields.Field {
            guard let column, fields.indices.contains(column) else { return none }
            return fields[column]
        }
        // A record that ends before its URL column is a photo with an empty URL. Records are never skipped.
        guard let columns = layout.columns, fields.count > columns, layout.urlColumn < columns else {
            return pass(field(layout.nameColumn), field(layout.urlColumn), line: line, receive)
        }
        let alignment = RowAlignment(
            delimiter: layout.delimiter, columns: columns, urlColumn: layout.urlColumn, nameColumn: layout.nameColumn,
            hasSpaces: layout.hasSpaces,
            endLikePictures: layout.endLikePictures)
        guard let place = alignment.find(record, fields) else {
            let problem =
                "line \(line) has \(fields.count) fields, the list has \(columns) columns; if its URL contains the "
                + "separator, put the URL in quotes"
            return ListEntry.with(name: "line \(line)", url: problem, line: line, receive)
        }
        func part(_ range: Range<Int>) -> SeparatedFields.Field {
            fields.first { $0.range == range }
                ?? SeparatedFields.Field(raw: record.part(range), hasQuotes: false, range: range, isQuoted: false)
        }
        pass(place.name.map { part($0) } ?? none, part(place.url), line: line, receive)
    }

    private mutating func pass(
        _ name: SeparatedFields.Field, _ url: SeparatedFields.Field, line: Int, _ receive: PhotoListReceiver
    ) {
        url.withText(&urlScratch) { url in
            let url = url.trimmed
            name.withText(&nameScratch) { name in
                if name.isEmpty {
                    ListEntry.pass(url, line: line, &scratch, to: receive)
                } else {
                    receive(ListEntry(name: name, url: url, line: line))
                }
            }
        }
    }
}
