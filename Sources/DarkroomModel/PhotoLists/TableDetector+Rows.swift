/// Finds what the rows of a table show about it: comments, the reading of quotation marks, and the number of columns.
extension TableDetector {
    func completed(_ layout: SeparatedListParser.Layout) -> SeparatedListParser.Layout {
        var layout = layout
        takeHeaderInComment(&layout)
        layout.comments = comments.count - (layout.headerIsComment ? 1 : 0)
        layout.quotesAreChosen = quotes != nil
        layout.quotes = quotes ?? detectedQuotes(layout)
        addColumns(&layout)
        return layout
    }

    /// If the table has no header, the last comment is the header if it has the name of a URL column and as many fields as
    /// the first row: `#id,url`.
    private func takeHeaderInComment(_ layout: inout SeparatedListParser.Layout) {
        guard !layout.hasHeader, var line = comments.last, let row = lines.first else { return }
        line = line.part(1..<line.count)
        let header = fields(line, layout.delimiter)
        guard header.count > 1, header.count == fields(row, layout.delimiter).count,
            let found = self.layout(header, layout.delimiter, sample: row)
        else { return }
        (layout.urlColumn, layout.nameColumn) = (found.urlColumn, found.nameColumn)
        (layout.hasHeader, layout.headerIsComment) = (true, true)
    }

    /// Quotation marks of a list that is usually literal are literal if all lines then have the same number of fields, and
    /// otherwise records differ in their number of fields or have several lines.
    private func detectedQuotes(_ layout: SeparatedListParser.Layout) -> ListQuotes {
        guard layout.isUsuallyLiteral, layout.delimiter != 0,
            lines.contains(where: { $0.offset(of: Byte.quote) != nil })
        else { return .csv }
        let literal = Set(lines.map { SeparatedFields.count($0, delimiter: layout.delimiter, quotes: .literal) })
        guard literal.count == 1 else { return .csv }
        // Each line ends within a quoted field, or has another number of fields, unless quotation marks enclose fields.
        let areEnclosing = lines.allSatisfy { line in
            var end = QuotedFieldState.start
            for byte in line { end.advance(over: byte, delimiter: layout.delimiter) }
            return end != .quoted
                && literal == [SeparatedFields.count(line, delimiter: layout.delimiter, quotes: .csv)]
        }
        return areEnclosing ? .csv : .literal
    }

    private func addColumns(_ layout: inout SeparatedListParser.Layout) {
        let rows = lines.dropFirst(layout.hasHeader && !layout.headerIsComment ? 1 : 0)
            .map { fields($0, layout.delimiter, layout.quotes) }
        guard layout.delimiter != 0 else { return layout.columns = 1 }
        var columns: Int
        if layout.hasHeader, let line = layout.headerIsComment ? comments.last : lines.first {
            let header = SeparatedFields.count(line, delimiter: layout.delimiter, quotes: layout.quotes)
            columns = header
            layout.hasSpaces = line.part(1..<line.count).containsDelimiterAndSpace(layout.delimiter)
            // Some programs end each row, but not the header, with a delimiter.
            while !rows.isEmpty, rows.allSatisfy({ $0.count > columns && $0[columns...].allSatisfy(\.isEmpty) }) {
                columns += 1
            }
        } else {
            let counts = Dictionary(grouping: rows, by: \.count).mapValues(\.count)
            columns = counts.max { ($0.value, -$0.key) < ($1.value, -$1.key) }?.key ?? 1
            layout.hasSpaces = lines.allSatisfy { $0.containsDelimiterAndSpace(layout.delimiter) }
            columns = Self.withoutPartsOfURL(rows, columns, layout.urlColumn)
            if let name = layout.nameColumn, name >= columns { layout.nameColumn = layout.urlColumn > 0 ? 0 : nil }
        }
        layout.columns = max(columns, layout.urlColumn + 1)
        let urls = rows.filter { $0.count == layout.columns && $0[layout.urlColumn].beginsWithURL }
            .map { row in row[layout.urlColumn].withUnsafeBytes { RowAlignment.endsLikeAPicture($0) } }
        if !urls.isEmpty { layout.endLikePictures = urls.count { $0 } * 2 > urls.count }
    }

    /// The number of columns of a table without a header, if the fields after the URL are parts of the URLs of all rows.
    private static func withoutPartsOfURL(_ rows: [[[UInt8]]], _ columns: Int, _ urlColumn: Int) -> Int {
        var columns = columns
        while columns > urlColumn + 1 {
            let areParts = rows.allSatisfy { row in
                guard row.count > urlColumn + 1, row[urlColumn].beginsWithURL else { return false }
                let url = row[urlColumn].withUnsafeBytes { RowAlignment.endsLikeAPicture($0) }
                let rest = row[(urlColumn + 1)...]
                guard !url, !rest.contains(where: \.beginsWithURL), let last = rest.last,
                    rest.joined().contains(Byte.slash)
                else { return false }
                return last.withUnsafeBytes { RowAlignment.endsLikeAPicture($0) }
            }
            guard areParts else { break }
            columns = urlColumn + 1
        }
        return columns
    }
}

extension UnsafeRawBufferPointer {
    /// Whether a space follows a delimiter.
    fileprivate func containsDelimiterAndSpace(_ delimiter: UInt8) -> Bool {
        indices.dropLast().contains { self[$0] == delimiter && self[$0 + 1] == Byte.space }
    }
}
