/// Tells plain text from CSV and its like, and finds the columns of URLs and names.
///
/// - A first line whose fields have a name of `FieldNames.url`, and no URL, is a header. Of several such columns the
///   best is taken that has a URL in the first line with URLs; the name column is found by `FieldNames.name`.
/// - Without such a header the first line that has a URL decides: when one of its fields begins with a URL that is the
///   URL column, and the first other one the name column.
/// - Since a URL may hold commas and semicolons itself, a line that *begins* with a URL is a record of several fields
///   only when a tab separates them, or the list's name ends in `.csv`, or the part before the first comma ends like a
///   picture's name and nothing like a URL follows.
struct TableDetector {
    private static let delimiters = [Byte.tab, UInt8(ascii: ","), UInt8(ascii: ";")]
    /// No text has it, so the whole line is one field.
    private static let noDelimiter: UInt8 = 0

    private let lines: [UnsafeRawBufferPointer]
    private let ending: String

    /// A detector for a list that begins with these lines, blank ones and comments left out.
    init(lines: [UnsafeRawBufferPointer], ending: String) {
        self.lines = lines
        self.ending = ending
    }

    /// The format and layout; throws when there is neither a URL nor a header.
    func find() throws(PhotoListError) -> ListDetector.Finding {
        guard let first = lines.first else {
            throw PhotoListError(.empty, "there are 0 photos in it, only comments; \(ListDetector.formatAdvice)")
        }
        let sample = lines.first { fields($0, Self.noDelimiter)[0].containsURL }
        for delimiter in Self.delimiters {
            let header = fields(first, delimiter)
            if header.count > 1, let layout = layout(header, delimiter, sample: sample) { return .separated(layout) }
        }
        let whole = fields(first, Self.noDelimiter)
        if let layout = layout(whole, Self.noDelimiter, sample: sample) { return .separated(layout) }
        guard let sample else {
            throw PhotoListError(
                .notAList, line: 1,
                "no URL here nor in the \(lines.count - 1) lines that follow (found \"\(first.excerpt(maxBytes: 80))\"); "
                    + "\(ListDetector.formatAdvice)")
        }
        return layout(sample: sample, first: first).map { .separated($0) } ?? .text
    }

    /// The layout that a header names; nil when `header` is none.
    private func layout(
        _ header: [[UInt8]], _ delimiter: UInt8, sample: UnsafeRawBufferPointer?
    ) -> SeparatedListParser.Layout? {
        guard !header.contains(where: \.containsURL) else { return nil }
        let ranks = header.map { $0.withUnsafeBytes { FieldNames.urlRank($0) } }
        let values = sample.map { fields($0, delimiter) } ?? []
        let candidates = header.indices.filter { ranks[$0] != nil }
        let shown = candidates.filter { $0 < values.count && values[$0].beginsWithURL }
        // The filter above leaves columns with a rank.
        guard let column = (shown.isEmpty ? candidates : shown).min(by: { ranks[$0]! < ranks[$1]! }) else { return nil }
        return SeparatedListParser.Layout(
            delimiter: delimiter, urlColumn: column, nameColumn: nameColumn(header, besides: column), hasHeader: true)
    }

    /// The layout that the first line with a URL shows; nil when it is plain text.
    private func layout(sample: UnsafeRawBufferPointer, first: UnsafeRawBufferPointer) -> SeparatedListParser.Layout? {
        for delimiter in Self.delimiters {
            let values = fields(sample, delimiter)
            guard values.count > 1, let column = values.firstIndex(where: \.beginsWithURL) else { continue }
            if column == 0, delimiter != Byte.tab, !isRecord(values), sample.first != Byte.quote { continue }
            let header = fields(first, delimiter)
            let name = header.contains(where: \.containsURL) ? nil : nameColumn(header, besides: column)
            return SeparatedListParser.Layout(
                delimiter: delimiter, urlColumn: column, nameColumn: name ?? (column == 0 ? 1 : 0),
                hasHeader: name != nil)
        }
        guard sample.first == Byte.quote else { return nil }
        return SeparatedListParser.Layout(
            delimiter: Self.noDelimiter, urlColumn: 0, nameColumn: nil, hasHeader: false)
    }

    private func nameColumn(_ header: [[UInt8]], besides urlColumn: Int) -> Int? {
        let ranks = header.map { $0.withUnsafeBytes { FieldNames.nameRank($0) } }
        return header.indices.filter { $0 != urlColumn && ranks[$0] != nil }.min { ranks[$0]! < ranks[$1]! }
    }

    /// Whether a line that begins with a URL and has commas is a record, not a URL with commas.
    private func isRecord(_ values: [[UInt8]]) -> Bool {
        if ending == "csv" || ending == "tsv" { return true }
        guard ImageEnding.length(of: values[0]) > 0 else { return false }
        return !values.dropFirst().joined().contains { "/=&?".utf8.contains($0) }
    }

    private func fields(_ line: UnsafeRawBufferPointer, _ delimiter: UInt8) -> [[UInt8]] {
        var all: [[UInt8]] = []
        var scratch: [UInt8] = []
        var fields = SeparatedFields(line, delimiter: delimiter)
        while let field = fields.next() { all.append(field.withText(&scratch) { Array($0.trimmed) }) }
        return all
    }
}

extension [UInt8] {
    fileprivate var beginsWithURL: Bool { withUnsafeBytes { PhotoURL.authorityStart($0) != nil } }

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
