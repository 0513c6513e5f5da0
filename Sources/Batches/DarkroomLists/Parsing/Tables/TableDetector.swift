import DarkroomModel

/// Distinguishes plain text from tables such as CSV, and finds the columns with URLs and names.
///
/// - The first line is a header if it contains no URL and one of its fields is a name in `FieldNames.url`. If several
///   columns match, the detector chooses the best-ranked column that contains a URL in the first line with URLs.
///   `FieldNames.name` finds the name column.
/// - Without a header, the first line with a URL determines the columns. The field that begins with a URL is the URL
///   column, and the first other field is the name column.
/// - A URL may contain commas, semicolons and vertical bars. A line that *begins* with a URL is therefore a record of
///   several fields only in these cases: a tab separates the fields; the list's name ends in `.csv` or `.tsv`; the
///   part before the first delimiter ends like a picture's name and no URL follows; or all lines have the same number
///   of fields and the fields after the URL look like texts.
/// - If several delimiters are possible, those that give the same number of fields in all lines come first.
struct TableDetector {
    private static let usualDelimiters = [Byte.tab, UInt8(ascii: ","), UInt8(ascii: ";"), Byte.bar]
    /// A byte that does not occur in text, so that the whole line is one field.
    private static let noDelimiter: UInt8 = 0

    /// All lines that are not blank.
    let all: [UnsafeRawBufferPointer]
    /// The number of lines before the header or the first row: comments, and the line `sep=;`.
    let linesBefore: Int
    /// The lines from the header or the first row on, excluding comments.
    let lines: [UnsafeRawBufferPointer]
    private let isWhole: Bool
    private let ending: String
    let quotes: ListQuotes?
    /// The possible delimiters, in the order in which they are tried.
    private let delimiters: [UInt8]

    /// Creates a detector for a list that begins with these lines. None of the lines is blank.
    /// - Parameters:
    ///   - isWhole: Whether these lines are the whole list.
    ///   - quotes: The reading of quotation marks, if the user has chosen it; nil to detect it.
    init(_ all: [UnsafeRawBufferPointer], isWhole: Bool, ending: String, quotes: ListQuotes?) {
        self.all = all
        self.isWhole = isWhole
        self.quotes = quotes
        // Spreadsheet programs write `sep=;` before the header.
        func separator(_ line: UnsafeRawBufferPointer) -> UInt8? {
            line.count == 5 && line.begins(with: "sep=") ? line[4] : nil
        }
        let first = all.firstIndex { !$0.isComment && separator($0) == nil }
        let chosen = all[..<(first ?? all.count)].lazy.compactMap(separator).first
        self.ending = chosen == nil ? ending : "csv"
        // If all lines begin with #, a line with a URL in a later field is a row.
        let possible = chosen.map { [$0] } ?? Self.usualDelimiters
        linesBefore =
            first ?? all.firstIndex { line in possible.contains { Self.hasLaterURL(line, $0) } } ?? all.count
        lines = all[linesBefore...].filter { first == nil || !$0.isComment }
        delimiters = chosen.map { [$0] } ?? Self.ordered(Self.usualDelimiters, lines)
    }

    /// Whether a field after the first field begins with a URL.
    private static func hasLaterURL(_ line: UnsafeRawBufferPointer, _ delimiter: UInt8) -> Bool {
        var fields = SeparatedFields(line, delimiter: delimiter, quotes: usualQuotes(of: line, delimiter))
        _ = fields.next()
        while let field = fields.next() {
            if PhotoURL.authorityStart(field.raw.trimmed) != nil { return true }
        }
        return false
    }

    /// The delimiters in the order in which they are tried.
    private static func ordered(_ delimiters: [UInt8], _ lines: [UnsafeRawBufferPointer]) -> [UInt8] {
        func rank(_ delimiter: UInt8) -> Int {
            let counts = Set(
                lines.map { SeparatedFields.count($0, delimiter: delimiter, quotes: usualQuotes(of: $0, delimiter)) })
            guard let count = counts.first, counts.count == 1, count > 1 else { return 2 }
            let endsWhole = lines.contains { line in
                var fields = SeparatedFields(line, delimiter: delimiter, quotes: usualQuotes(of: line, delimiter))
                while let field = fields.next() {
                    let text = field.raw.trimmed
                    if PhotoURL.authorityStart(text) != nil, RowAlignment.endsLikeAPicture(text) { return true }
                }
                return false
            }
            return endsWhole ? 0 : 1
        }
        let ranks = Dictionary(uniqueKeysWithValues: delimiters.map { ($0, rank($0)) })
        return delimiters.enumerated().sorted {
            (ranks[$0.element] ?? 2, $0.offset) < (ranks[$1.element] ?? 2, $1.offset)
        }
        .map(\.element)
    }

    func find(_ columns: ListColumns) throws(PhotoListError) -> ListDetector.Finding {
        guard let first = lines.first else {
            throw PhotoListError(.empty, "there are 0 photos in it; \(ListDetector.formatAdvice)")
        }
        // Use the delimiter that gives the most columns; if several give the same number, use the first.
        let delimiter = delimiters.max { fields(first, $0).count < fields(first, $1).count } ?? Self.noDelimiter
        let header = fields(first, delimiter)
        func column(_ text: String?, _ what: String) throws(PhotoListError) -> Int? {
            guard let text else { return nil }
            let named = header.firstIndex { String(decoding: $0, as: UTF8.self).lowercased() == text.lowercased() }
            if let named { return named }
            if let number = Int(text), header.indices.contains(number - 1) { return number - 1 }
            let found = header.map { $0.withUnsafeBytes { "\"\($0.excerpt(maxBytes: 40))\"" } }.joined(separator: ", ")
            throw PhotoListError(
                .notAList, line: 1,
                "it has no column \"\(text)\" for \(what); write the name or the number of one of its "
                    + "\(header.count) columns: \(found)")
        }
        let url = try column(columns.url, "the URLs"), chosen = try column(columns.name, "the names")
        var layout: SeparatedListParser.Layout
        if let url {
            // The first line is a header if it contains the chosen name or a name of `FieldNames`.
            let hasKnownName = header.contains {
                $0.withUnsafeBytes { FieldNames.urlRank($0) != nil || FieldNames.nameRank($0) != nil }
            }
            let isHeader = !header[url].containsURL && (Int(columns.url ?? "") == nil || hasKnownName)
            let name = nameColumn(header, besides: url)
            layout = SeparatedListParser.Layout(
                delimiter: delimiter, urlColumn: url, nameColumn: isHeader ? name : nil, hasHeader: isHeader)
        } else if case .separated(let found) = try findFormat() {
            layout = found
        } else {
            throw PhotoListError(.notAList, "it is not a table, so it has no column for the names")
        }
        if let chosen { layout.nameColumn = chosen }
        return .separated(completed(layout))
    }

    /// The layout of a list of paths, detected from the first line with a path; nil if no line contains a path.
    private func findPaths() -> ListDetector.Finding? {
        guard let first = lines.first else { return nil }
        for delimiter in delimiters {
            let header = fields(first, delimiter)
            let sample = lines.first {
                fields($0, delimiter).contains(where: \.isPicturePath) && showsFields($0, delimiter)
            }
            guard let sample else { continue }
            let values = fields(sample, delimiter)
            guard values.count > 1, values.count == header.count,
                let column = values.firstIndex(where: \.isPicturePath), !haveSinglePath(delimiter)
            else { continue }
            let name = header.contains(where: \.isPicturePath) ? nil : nameColumn(header, besides: column)
            return .separated(
                SeparatedListParser.Layout(
                    delimiter: delimiter, urlColumn: column, nameColumn: name ?? (column == 0 ? 1 : 0),
                    hasHeader: name != nil))
        }
        return lines.contains { Array($0.trimmed).isPicturePath } ? .text : nil
    }

    /// Whether a line is only a path. If so, the delimiters of other lines are characters of their paths. This does not
    /// apply to CSV and TSV files, in which such a line may be a row that is too short.
    private func haveSinglePath(_ delimiter: UInt8) -> Bool {
        ending != "csv" && ending != "tsv" && delimiter != Byte.tab
            && lines.contains { Array($0.trimmed).isPicturePath && $0.offset(of: delimiter) == nil }
    }

    /// Returns the format and layout. Throws if the lines contain no URL, no path and no header.
    func find() throws(PhotoListError) -> ListDetector.Finding {
        guard case .separated(let layout) = try findFormat() else { return .text }
        return .separated(completed(layout))
    }

    private func findFormat() throws(PhotoListError) -> ListDetector.Finding {
        guard let first = lines.first else {
            let comments = isWhole ? "there are 0 photos in it, only comments" : "it begins with too many comments"
            throw PhotoListError(.empty, "\(comments); \(ListDetector.formatAdvice)")
        }
        let sample = lines.first { fields($0, Self.noDelimiter)[0].containsURL }
        for delimiter in delimiters {
            let header = fields(first, delimiter)
            if header.count > 1, let layout = layout(header, delimiter, sample: sample) { return .separated(layout) }
        }
        let whole = fields(first, Self.noDelimiter)
        if let layout = layout(whole, Self.noDelimiter, sample: sample) { return .separated(layout) }
        guard let sample else {
            if let finding = findPaths() { return finding }
            throw PhotoListError(
                .notAList, line: 1,
                "no URL and no path of a picture in this line or the \(lines.count - 1) lines after it "
                    + "(found \"\(first.excerpt(maxBytes: 80))\"); \(ListDetector.formatAdvice)")
        }
        return layout(sample: sample, first: first).map { .separated($0) } ?? .text
    }

    /// The layout according to a header; nil if `header` is not a header.
    func layout(
        _ header: [[UInt8]], _ delimiter: UInt8, sample: UnsafeRawBufferPointer?
    ) -> SeparatedListParser.Layout? {
        guard !header.contains(where: \.containsURL) else { return nil }
        let ranks = header.map { $0.withUnsafeBytes { FieldNames.urlRank($0) } }
        let values = sample.map { fields($0, delimiter) } ?? []
        let candidates = header.indices.filter { ranks[$0] != nil }
        let shown = candidates.filter { $0 < values.count && values[$0].beginsWithURL }
        // The filter above has removed the columns without a rank.
        guard let column = (shown.isEmpty ? candidates : shown).min(by: { ranks[$0]! < ranks[$1]! }) else { return nil }
        return SeparatedListParser.Layout(
            delimiter: delimiter, urlColumn: column, nameColumn: nameColumn(header, besides: column), hasHeader: true)
    }

    /// The layout according to the first line with a URL; nil if the list is plain text.
    private func layout(sample: UnsafeRawBufferPointer, first: UnsafeRawBufferPointer) -> SeparatedListParser.Layout? {
        for delimiter in delimiters {
            guard let sample = lines.first(where: { Array($0).containsURL && showsFields($0, delimiter) }) else {
                continue
            }
            let values = fields(sample, delimiter)
            guard values.count > 1, let column = values.firstIndex(where: \.beginsWithURL) else { continue }
            if column == 0, delimiter != Byte.tab, !isRecord(values), !areRecords(delimiter), sample.first != Byte.quote
            {
                continue
            }
            let header = fields(first, delimiter)
            let name = header.contains(where: \.containsURL) ? nil : nameColumn(header, besides: column)
            var layout = SeparatedListParser.Layout(
                delimiter: delimiter, urlColumn: column, nameColumn: name ?? (column == 0 ? 1 : 0),
                hasHeader: name != nil)
            if name == nil, isUnknownHeader(header, of: values.count, column, delimiter) {
                layout.hasHeader = true
                let found = header[column].withUnsafeBytes { $0.excerpt(maxBytes: 40) }
                layout.guess = ListRemark(
                    "its first line is taken for a header: column \(column + 1) (\"\(found)\") has the URLs, column "
                        + "\((layout.nameColumn ?? 0) + 1) the names", .chooseColumns)
            }
            return layout
        }
        guard sample.first == Byte.quote else { return nil }
        return SeparatedListParser.Layout(
            delimiter: Self.noDelimiter, urlColumn: 0, nameColumn: nil, hasHeader: false)
    }

    /// Whether a line shows how many fields it has. Tabs around the only text of a line may be blanks, and an unclosed
    /// quotation mark before the first field may be a part of the text.
    private func showsFields(_ line: UnsafeRawBufferPointer, _ delimiter: UInt8) -> Bool {
        if delimiter == Byte.tab, line.trimmed.count < line.count, line.trimmed.offset(of: Byte.tab) == nil {
            return false
        }
        return line.first != Byte.quote || QuotedLines.quotes(of: line, delimiter) == .csv
            || fields(line, delimiter).count > 1
    }

    /// Whether the first line of a CSV file is a header with unknown names. It is a header if it contains no URL, its
    /// field in the URL column is not a word for a missing value, and this column contains a URL in each of the next 50
    /// lines.
    private func isUnknownHeader(_ header: [[UInt8]], of count: Int, _ column: Int, _ delimiter: UInt8) -> Bool {
        guard ending == "csv" || ending == "tsv", header.count == count, !header[column].isEmpty, lines.count > 2 else {
            return false
        }
        let word = String(decoding: header[column], as: UTF8.self).lowercased()
        let missing = ["none", "null", "nil", "nan", "n/a", "na", "missing", "unknown", "pending", "no", "-", "?"]
        guard !word.hasPrefix("no "), !missing.contains(word), !header.contains(where: \.containsURL) else {
            return false
        }
        return lines.dropFirst().prefix(50).allSatisfy { line in
            let values = fields(line, delimiter)
            return values.indices.contains(column) && values[column].beginsWithURL
        }
    }

    private func nameColumn(_ header: [[UInt8]], besides urlColumn: Int) -> Int? {
        let ranks = header.map { $0.withUnsafeBytes { FieldNames.nameRank($0) } }
        return header.indices.filter { $0 != urlColumn && ranks[$0] != nil }.min { ranks[$0]! < ranks[$1]! }
    }

    /// Whether a line that begins with a URL and contains commas is a record, and not a single URL with commas.
    private func isRecord(_ values: [[UInt8]]) -> Bool {
        if ending == "csv" || ending == "tsv" { return true }
        guard ImageEnding.length(of: values[0]) > 0 else { return false }
        return !values.dropFirst().joined().contains { "/=&?".utf8.contains($0) }
    }

    /// Whether lines that begin with a URL and contain a delimiter are records: all lines have the same number of
    /// fields, and the fields after the URL look like texts, and not like the rest of a URL. A vertical bar is not
    /// allowed in URLs, so the texts may be single words.
    private func areRecords(_ delimiter: UInt8) -> Bool {
        guard lines.count > 1 else { return false }
        let rows = lines.map { fields($0, delimiter) }
        guard Set(rows.map(\.count)).count == 1, let first = rows.first, first.count > 1 else { return false }
        var haveSpaces = delimiter == Byte.bar
        for row in rows {
            let texts = row.dropFirst()
            if texts.contains(where: { $0.contains { "/=&?".utf8.contains($0) } }) { return false }
            if ImageEnding.length(of: texts.last ?? []) > 0 { return false }
            if row[0].contains(UInt8(ascii: "?")) { return false }
            haveSpaces = haveSpaces || texts.contains { $0.contains(Byte.space) }
        }
        return haveSpaces
    }

    /// The meaning of the quotation marks of a line, guessed from the delimiter. In general, quotation marks enclose
    /// fields. Between tabs or vertical bars, a quotation mark that is not closed in its line is text.
    private static func usualQuotes(of line: UnsafeRawBufferPointer, _ delimiter: UInt8) -> ListQuotes {
        guard delimiter == Byte.tab || delimiter == Byte.bar, line.offset(of: Byte.quote) != nil else { return .csv }
        var end = QuotedFieldState.start
        for byte in line { end.advance(over: byte, delimiter: delimiter) }
        return end == .quoted ? .literal : .csv
    }

    func fields(_ line: UnsafeRawBufferPointer, _ delimiter: UInt8, _ quotes: ListQuotes? = nil) -> [[UInt8]] {
        let quotes = quotes ?? self.quotes ?? Self.usualQuotes(of: line, delimiter)
        var all: [[UInt8]] = []
        var scratch: [UInt8] = []
        var fields = SeparatedFields(line, delimiter: delimiter, quotes: quotes)
        while let field = fields.next() { all.append(field.withText(&scratch) { Array($0.trimmed) }) }
        return all
    }
}

extension [UInt8] {
    var beginsWithURL: Bool { withUnsafeBytes { PhotoURL.authorityStart($0) != nil } }

    /// Whether this is a path that ends like the name of a picture.
    var isPicturePath: Bool { withUnsafeBytes { LocalPath.isOne($0) && ImageEnding.length(of: $0) > 0 } }

    var endsLikeAPicture: Bool { withUnsafeBytes { RowAlignment.endsLikeAPicture($0) } }

    fileprivate var containsURL: Bool {
        withUnsafeBytes { bytes in
            var start = 0
            while let colon = bytes.offset(of: Byte.colon, from: start) {
                if bytes.part(colon..<bytes.count).begins(with: "://") { return true }
                start = colon + 1
            }
            return false
        }
    }
}
