import DarkroomModel

/// Finds the properties of a table from its rows: comments, the reading of quotation marks, and the number of columns.
extension TableDetector {
    func completed(_ layout: SeparatedListParser.Layout) -> SeparatedListParser.Layout {
        var layout = layout
        layout.linesBefore = linesBefore
        if !layout.hasHeader {
            layout.linesBefore = all[..<linesBefore].firstIndex { isRow($0, layout) } ?? linesBefore
            takeHeaderInComment(&layout)
        }
        let header = layout.hasHeader ? all[layout.linesBefore] : nil
        let rows = all[(layout.linesBefore + (layout.hasHeader ? 1 : 0))...].filter {
            !$0.isComment || isRow($0, layout)
        }
        layout.quotesAreChosen = quotes != nil
        layout.quotes = quotes ?? detectedQuotes(layout, (header.map { [$0] } ?? []) + rows)
        addColumns(&layout, header, rows.map { fields($0, layout.delimiter, layout.quotes) })
        return layout
    }

    /// Whether a line that begins with `#` is a row, because it has a URL or the path of a picture in the URL column.
    private func isRow(_ line: UnsafeRawBufferPointer, _ layout: SeparatedListParser.Layout) -> Bool {
        hasURL(fields(line, layout.delimiter), layout)
    }

    private func hasURL(_ values: [[UInt8]], _ layout: SeparatedListParser.Layout) -> Bool {
        guard values.indices.contains(layout.urlColumn) else { return false }
        let url = values[layout.urlColumn]
        return url.first != Byte.hash && (url.beginsWithURL || url.isPicturePath)
    }

    /// Takes the last comment for the header if the table has no other header, and the comment has the name of a URL
    /// column and as many fields as the first row: `#id,url`.
    private func takeHeaderInComment(_ layout: inout SeparatedListParser.Layout) {
        guard layout.linesBefore > 0, all.indices.contains(layout.linesBefore) else { return }
        let line = all[layout.linesBefore - 1].trimmed, row = all[layout.linesBefore]
        guard line.isComment else { return }
        let header = fields(line.part(1..<line.count), layout.delimiter)
        guard header.count > 1, header.count == fields(row, layout.delimiter).count,
            let found = self.layout(header, layout.delimiter, sample: row)
        else { return }
        (layout.urlColumn, layout.nameColumn) = (found.urlColumn, found.nameColumn)
        layout.hasHeader = true
        layout.linesBefore -= 1
    }

    /// The reading of quotation marks. In a list that is usually literal, the marks are literal if two conditions hold:
    /// read literally, all lines have the same number of fields; read as in CSV, a line has another number of fields, or
    /// a quoted field of the line has no end.
    private func detectedQuotes(
        _ layout: SeparatedListParser.Layout, _ lines: [UnsafeRawBufferPointer]
    ) -> ListQuotes {
        guard layout.isUsuallyLiteral, layout.delimiter != 0,
            lines.contains(where: { $0.offset(of: Byte.quote) != nil })
        else { return .csv }
        let literal = Set(lines.map { SeparatedFields.count($0, delimiter: layout.delimiter, quotes: .literal) })
        guard literal.count == 1 else { return .csv }
        // If the marks enclose fields, no line ends within a quoted field, and both readings give the same number of
        // fields.
        let areEnclosing = lines.allSatisfy { line in
            var end = QuotedFieldState.start
            for byte in line { end.advance(over: byte, delimiter: layout.delimiter) }
            return end != .quoted
                && literal == [SeparatedFields.count(line, delimiter: layout.delimiter, quotes: .csv)]
        }
        return areEnclosing ? .csv : .literal
    }

    private func addColumns(
        _ layout: inout SeparatedListParser.Layout, _ header: UnsafeRawBufferPointer?, _ rows: [[[UInt8]]]
    ) {
        guard layout.delimiter != 0 else { return layout.columns = 1 }
        var columns: Int
        if let header {
            columns = SeparatedFields.count(header, delimiter: layout.delimiter, quotes: layout.quotes)
            layout.hasSpaces = header.part(1..<header.count).containsDelimiterAndSpace(layout.delimiter)
            // Some programs end each row, but not the header, with delimiters.
            if rows.allSatisfy({ $0.dropFirst(columns).allSatisfy(\.isEmpty) }) {
                columns = max(columns, rows.lazy.map(\.count).min() ?? 0)
            }
        } else {
            let parts = rows.map { Self.partsOfURL($0, layout) }
            let counts = zip(rows, parts).map { $0.count - ($1.areCertain ? $1.count : 0) }
            // The other lines may be parts of quoted fields.
            let haveURL = rows.indices.filter { hasURL(rows[$0], layout) }
            columns = mostFrequent(haveURL.map { counts[$0] }) ?? mostFrequent(counts) ?? 1
            layout.guess = layout.guess ?? Self.guess(layout, columns, rows, parts)
            layout.hasSpaces = lines.allSatisfy { $0.containsDelimiterAndSpace(layout.delimiter) }
            if let name = layout.nameColumn, name >= columns { layout.nameColumn = layout.urlColumn > 0 ? 0 : nil }
        }
        layout.columns = max(columns, layout.urlColumn + 1)
        let urls = rows.filter { $0.count == layout.columns && $0[layout.urlColumn].beginsWithURL }
            .map(\.[layout.urlColumn].endsLikeAPicture)
        if !urls.isEmpty { layout.endLikePictures = urls.count { $0 } * 2 > urls.count }
    }

    /// The fields after the URL of a row that may be parts of the URL.
    private struct PartsOfURL {
        var count = 0
        /// Whether one of the fields contains a slash. Otherwise the last field may be a file name in a separate
        /// column.
        var areCertain = false
    }

    /// If the URL of a row does not end like the name of a picture: the next fields up to the first field that does.
    /// These fields may be parts of the URL, cut at its separators.
    private static func partsOfURL(_ row: [[UInt8]], _ layout: SeparatedListParser.Layout) -> PartsOfURL {
        let url = layout.urlColumn
        guard layout.delimiter != Byte.tab, row.count > url + 1, row[url].beginsWithURL, !row[url].endsLikeAPicture,
            let last = row[(url + 1)...].firstIndex(where: \.endsLikeAPicture)
        else { return PartsOfURL() }
        let parts = row[(url + 1)...last]
        guard !parts.contains(where: \.beginsWithURL) else { return PartsOfURL() }
        return PartsOfURL(count: parts.count, areCertain: parts.contains { $0.contains(Byte.slash) })
    }

    /// A sentence that tells the user how the fields after the URLs are read; nil if they do not look like parts of the
    /// URLs.
    private static func guess(
        _ layout: SeparatedListParser.Layout, _ columns: Int, _ rows: [[[UInt8]]], _ parts: [PartsOfURL]
    ) -> ListRemark? {
        let urls = "the URLs in column \(layout.urlColumn + 1) are"
        if zip(rows, parts).contains(where: { $0.count == columns && $1.count > 0 }) {
            return ListRemark(
                "\(urls) not joined with the fields after them; if these are parts of the URLs, put the URLs in quotes")
        }
        guard parts.count(where: \.areCertain) * 2 > parts.count else { return nil }
        return ListRemark(
            "\(urls) joined with the fields after them; if these are columns, add a line with the names of the columns")
    }
}

/// The most frequent number; the smallest one if several are equally frequent.
private func mostFrequent(_ numbers: [Int]) -> Int? {
    Dictionary(grouping: numbers) { $0 }.mapValues(\.count)
        .max { ($0.value, -$0.key) < ($1.value, -$1.key) }?.key
}

extension UnsafeRawBufferPointer {
    /// Whether a space follows a delimiter.
    fileprivate func containsDelimiterAndSpace(_ delimiter: UInt8) -> Bool {
        indices.dropLast().contains { self[$0] == delimiter && self[$0 + 1] == Byte.space }
    }
}
