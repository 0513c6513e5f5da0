import DarkroomModel

/// Detects the format of a list from its first bytes. The file name extension matters only if these bytes fit two
/// formats.
struct ListDetector {
    /// The maximum number of bytes that are examined.
    static let windowBytes = 64 << 10

    /// The format and the parameters of its parser.
    enum Finding: Equatable {
        case text
        case separated(SeparatedListParser.Layout)
        case jsonLines
        case json
        case propertyList
    }

    private let window: UnsafeRawBufferPointer
    private let isWhole: Bool
    private let ending: String
    private let columns: ListColumns
    private let quotes: ListQuotes?

    /// Creates a detector for a list that begins with `window`. If `isWhole` is true, `window` is the whole list.
    /// `ending` is the extension of the list's name in lower case, without `.gz`.
    /// `quotes` is the user's choice of how to read quotation marks in tables.
    init(
        _ window: UnsafeRawBufferPointer, isWhole: Bool, ending: String, columns: ListColumns = ListColumns(),
        quotes: ListQuotes? = nil
    ) {
        self.window = window
        self.isWhole = isWhole
        self.ending = ending
        self.columns = columns
        self.quotes = quotes
    }

    /// Returns the format. If the bytes are not a list, throws an error that describes them.
    func find() throws(PhotoListError) -> Finding {
        guard let first = window.first(where: { !Byte.isBlank($0) && $0 != 10 && $0 != 13 }) else {
            throw PhotoListError(.empty, "it is empty; \(Self.formatAdvice)")
        }
        if window.begins(with: "bplist") { return .propertyList }
        try refuseOtherFiles()
        if columns != ListColumns() { return try withStart(table.find(columns)) }
        switch first {
        case UInt8(ascii: "<"): return try markup()
        case UInt8(ascii: "["): return .json
        case UInt8(ascii: "{"): return object()
        case Byte.quote where isJSONString(): return .jsonLines
        case Byte.hash where firstText?.first == UInt8(ascii: "{"): return .jsonLines
        default: return try withStart(table.find())
        }
    }

    private var table: TableDetector { TableDetector(lines, isWhole: isWhole, ending: ending, quotes: quotes) }

    /// The first line that is not a comment, without spaces and tabs around it.
    private var firstText: UnsafeRawBufferPointer? { lines.first { !$0.isComment }?.trimmed }

    /// Adds the offset of the first record to the layout of a table.
    private func withStart(_ finding: Finding) -> Finding {
        guard case .separated(var layout) = finding, layout.linesBefore > 0 else { return finding }
        let last = lines[layout.linesBefore - 1]
        // A line that is not blank has an address in the window.
        let newline = window.offset(of: Byte.lineFeed, from: last.baseAddress! - window.baseAddress!)
        layout.start = newline.map { $0 + 1 } ?? window.count
        return .separated(layout)
    }

    /// The lines of the window that are not blank, without leading and trailing spaces. An incomplete last line is
    /// omitted if another line is complete.
    private var lines: [UnsafeRawBufferPointer] {
        var lines: [UnsafeRawBufferPointer] = []
        var start = 0
        while start < window.count {
            let newline = window.offset(of: Byte.lineFeed, from: start)
            let end = newline ?? window.count
            var line = window.part(start..<end)
            if line.last == Byte.carriageReturn { line = line.part(0..<line.count - 1) }
            // Tabs are kept, because the first and the last field of a row may be empty.
            line = line.trimmed { $0 == Byte.space }
            if !line.trimmed.isEmpty, newline != nil || isWhole || lines.isEmpty { lines.append(line) }
            start = end + 1
        }
        return lines
    }

    private func markup() throws(PhotoListError) -> Finding {
        let text = String(decoding: window.prefix(4096), as: UTF8.self).lowercased()
        if text.contains("<plist") || text.contains("<!doctype plist") { return .propertyList }
        if text.contains("<html") || text.contains("<!doctype html") {
            throw notAList("an HTML page")
        }
        throw notAList("XML that is not a property list")
    }

    /// Decides whether an object is the whole document or the first of many lines.
    private func object() -> Finding {
        if ["jsonl", "ndjson"].contains(ending) { return .jsonLines }
        var scanner = JSONScanner(window)
        guard (try? scanner.skipValue()) != nil else { return .json }
        if scanner.peek() != nil { return .jsonLines }
        guard isWhole else { return .json }
        // A single object is one photo if it contains a URL under the exact key `url`. Otherwise it maps names to URLs.
        var hasURL = false
        scanner = JSONScanner(window)
        try? scanner.members { (scanner, key) throws(JSONScanner.Failure) in
            hasURL = hasURL || key.raw.elementsEqual("url".utf8)
            try scanner.skipValue()
        }
        return hasURL ? .jsonLines : .json
    }

    /// Whether a line that begins with a quote is a JSON string, and not a CSV record with a quoted field.
    private func isJSONString() -> Bool {
        if ["csv", "tsv"].contains(ending) { return false }
        guard let line = firstText else { return false }
        var scanner = JSONScanner(line)
        return (try? scanner.string()) != nil && scanner.peek() == nil
            // The line `"url"` is the header of a table with one column.
            && FieldNames.urlRank(line) == nil
    }

    private func refuseOtherFiles() throws(PhotoListError) {
        for (start, what, advice) in Self.otherFiles where window.starts(with: start) {
            throw notAList(what, advice: advice)
        }
        if window.contains(0) { throw notAList("binary data") }
        if window.offset(of: Byte.carriageReturn) != nil, window.offset(of: Byte.lineFeed) == nil,
            !window.begins(with: "{"), !window.begins(with: "[")
        {
            throw notAList("text whose lines end with CR alone", advice: "convert it first: tr '\\r' '\\n'")
        }
    }

    private static let otherFiles: [(start: [UInt8], what: String, advice: String)] = [
        ([0xff, 0xfe], "UTF-16 text", "convert it first: iconv -f UTF-16 -t UTF-8"),
        ([0xfe, 0xff], "UTF-16 text", "convert it first: iconv -f UTF-16 -t UTF-8"),
        ([0xff, 0xd8, 0xff], "a JPEG picture", pictureAdvice),
        ([0x89, 0x50, 0x4e, 0x47], "a PNG picture", pictureAdvice),
        (Array("GIF8".utf8), "a GIF picture", pictureAdvice),
        ([0x49, 0x49, 0x2a, 0], "a TIFF picture", pictureAdvice),
        ([0x4d, 0x4d, 0, 0x2a], "a TIFF picture", pictureAdvice),
        ([0x50, 0x4b, 3, 4], "a zip archive", "unpack it first"),
        (Array("%PDF".utf8), "a PDF document", formatAdvice),
    ]
    private static let pictureAdvice =
        "one photo is developed by `darkroom develop IN OUT`, a folder of photos is a list"
    static let formatAdvice = "a list has one URL per line, or is CSV, TSV, JSON, JSONL or a property list"

    private func notAList(
        _ found: String, advice: String = ListDetector.formatAdvice
    ) -> PhotoListError {
        PhotoListError(.notAList, "it is \(found), not a photo list; \(advice)")
    }
}
