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
        /// True if the first line defines the delimiter: `sep=;`.
        var hasSeparatorLine = false
        /// A sentence that tells the user which columns were guessed; nil if no columns were guessed.
        var guess: String?
    }

    private let layout: Layout
    private var recordsToSkip: Int
    private var scratch = PhotoURL.Scratch()
    private var urlScratch: [UInt8] = []
    private var nameScratch: [UInt8] = []

    init(_ layout: Layout) {
        self.layout = layout
        recordsToSkip = (layout.hasSeparatorLine ? 1 : 0) + (layout.hasHeader ? 1 : 0)
    }

    mutating func take(_ record: UnsafeRawBufferPointer, line: Int, _ receive: PhotoListReceiver) {
        guard record.contains(where: { !Byte.isBlank($0) }) else { return }
        guard recordsToSkip == 0 else { return recordsToSkip -= 1 }
        var url: SeparatedFields.Field?, name: SeparatedFields.Field?
        var fields = SeparatedFields(record, delimiter: layout.delimiter)
        var column = 0
        while column <= max(layout.urlColumn, layout.nameColumn ?? 0), let field = fields.next() {
            if column == layout.urlColumn { url = field }
            if column == layout.nameColumn { name = field }
            column += 1
        }
        // A record that ends before its URL column is a photo with an empty URL. Records are never skipped.
        let none = SeparatedFields.Field(raw: record.part(0..<0), hasQuotes: false)
        (url ?? none).withText(&urlScratch) { url in
            let url = url.trimmed
            (name ?? none).withText(&nameScratch) { name in
                if name.isEmpty {
                    PhotoURL.withName(of: url, &scratch) { receive($0, url) }
                } else {
                    receive(name, url)
                }
            }
        }
    }
}
