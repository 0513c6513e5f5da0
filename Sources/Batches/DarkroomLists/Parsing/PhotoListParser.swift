import DarkroomModel

/// Reads a photo list from chunks of decompressed bytes of any size, and passes on its entries in order.
///
/// Plain text, CSV, TSV and JSONL are streamed: the parser stores at most the longest line, up to 1 MiB. A JSON
/// document or a property list is collected first, up to `maxWholeBytes`. The parser also passes on entries with an
/// invalid URL; the text of such an entry, or a description of the text, takes the place of the URL.
struct PhotoListParser {
    /// The maximum size of a JSON document or a property list: 1 GiB.
    static let maxWholeBytes = 1 << 30

    private enum Content {
        case text(RecordSplitter, TextListParser)
        case separated(RecordSplitter, SeparatedListParser)
        case jsonLines(RecordSplitter, JSONLinesParser)
        case json
        case propertyList(PropertyListParser)
    }

    /// The format; nil until enough bytes have been received to detect it.
    private(set) var format: PhotoListFormat?
    /// True if all names are known to be unique, as in the dictionary of a property list.
    private(set) var namesAreUnique = false
    /// True for the dictionary of a property list in which no two names differ only in case or Unicode composition.
    private(set) var namesAreDistinct = false
    /// True if the names are distinct even without picture extensions, and some names have such an extension.
    private(set) var stemsAreDistinct = false
    /// A sentence that tells the user which columns of a table were guessed; nil if no columns were guessed.
    private(set) var guess: ListRemark?
    /// A sentence about the first unusual quoted field of a table so far; nil if there is none.
    private(set) var quoteRemark: ListRemark?

    private let ending: String
    private let maxWholeBytes: Int
    private let columns: ListColumns
    private let quotes: ListQuotes?
    private var content: Content?
    /// The bytes received before the format was known, or all bytes of a list that must be read as a whole.
    private var held: [UInt8] = []

    /// The offset after the comments and blank lines that have been found so far at the beginning.
    private var commentsEnd = 0
    /// The maximum size of the comments before the first other line.
    private static let maxCommentBytes = 1 << 20
    /// The byte order mark of UTF-8.
    private static let mark: [UInt8] = [0xef, 0xbb, 0xbf]

    /// The number of bytes from which ``decide()`` has detected the format; nil if it has not detected the format.
    var examinedBytes: Int?

    /// Creates a parser for a list with this name. The extension of the name is used only if two formats are possible.
    /// - Parameter quotes: The reading of quotation marks in a table; nil to detect it.
    init(
        listName: String = "", columns: ListColumns = ListColumns(), quotes: ListQuotes? = nil,
        maxWholeBytes: Int = PhotoListParser.maxWholeBytes
    ) {
        self.columns = columns
        self.quotes = quotes
        var parts = listName.lowercased().split(separator: ".")
        if parts.last == "gz" { parts.removeLast() }
        ending = parts.count > 1 ? String(parts[parts.count - 1]) : ""
        self.maxWholeBytes = maxWholeBytes
    }

    /// Examines the next bytes without passing on entries. Returns true when the format is known and, for a property
    /// list, also whether its names are unique. Call `parse` with the bytes that follow.
    mutating func examine(_ chunk: UnsafeRawBufferPointer, isLast: Bool) throws(PhotoListError) -> Bool {
        try hold(chunk)
        if format == nil {
            passComments()
            guard isLast || held.count >= (examinedBytes ?? commentsEnd + ListDetector.windowBytes + Self.mark.count)
            else { return false }
            if held.starts(with: Self.mark) {
                held.removeFirst(Self.mark.count)
                commentsEnd = max(0, commentsEnd - Self.mark.count)
            }
            try begin(find(isWhole: isLast))
        }
        guard format == .propertyList else { return true }
        guard isLast else { return false }
        let propertyList = try PropertyListParser(held, maxBytes: maxWholeBytes)
        held = []
        namesAreUnique = propertyList.isDictionary
        if namesAreUnique {
            var names = ListNames()
            try propertyList.parse { names.add($0.name) }
            namesAreDistinct = names.namesAreDistinct
            stemsAreDistinct = names.stemsAreDistinct
        }
        content = .propertyList(propertyList)
        return true
    }

    /// Detects the format from the bytes received so far, for a list of which no more bytes arrive for some time.
    ///
    /// Returns false if the bytes contain no line with a URL (for example only the header of a table), or if they may
    /// be the beginning of a JSON document or a property list. If another parser reads the list again, it must decide
    /// after the same number of bytes, so that it detects the same format: see ``examinedBytes``.
    mutating func decide() -> Bool {
        guard format == nil, held.contains(Byte.lineFeed), String(decoding: held, as: UTF8.self).contains("://"),
            let finding = try? find(isWhole: false), finding != .json, finding != .propertyList
        else { return false }
        examinedBytes = held.count
        if let isKnown = try? examine(UnsafeRawBufferPointer(start: nil, count: 0), isLast: false) { return isKnown }
        examinedBytes = nil
        return false
    }

    /// Parses the next bytes and passes on the complete entries. If `isLast` is true, the list ends with these bytes.
    ///
    /// May be called for the first bytes, or after `examine` has returned true. Must not be called after an error.
    ///
    /// The call is dynamic, because otherwise the compiler makes a copy of all parsers for each closure `receive`. The
    /// copies retain and release the variables of the closure for each field, which doubles the time for tables.
    dynamic mutating func parse(
        _ chunk: UnsafeRawBufferPointer, isLast: Bool, _ receive: PhotoListReceiver
    ) throws(PhotoListError) {
        guard content != nil else {
            guard try examine(chunk, isLast: isLast) else { return }
            return try parseHeld(isLast: isLast, receive)
        }
        if format == .json {
            try hold(chunk)
            try parseHeld(isLast: isLast, receive)
        } else if held.isEmpty {
            try advance(chunk, isLast: isLast, receive)
        } else {
            try parseHeld(isLast: false, receive)
            try advance(chunk, isLast: isLast, receive)
        }
    }

    private mutating func hold(_ chunk: UnsafeRawBufferPointer) throws(PhotoListError) {
        guard held.count + chunk.count <= maxWholeBytes else {
            throw PhotoListError(
                .tooLarge,
                "it is larger than \(maxWholeBytes) bytes, the limit for a JSON document or a property list, "
                    + "which is read whole; write it as JSONL (one object per line), which has no limit")
        }
        held.append(contentsOf: chunk)
    }

    /// Advances ``commentsEnd`` over complete comments and blank lines, up to 1 MiB.
    ///
    /// Only lines shorter than the window are skipped. Therefore the result does not depend on the chunks once the
    /// window is complete.
    private mutating func passComments() {
        if commentsEnd == 0, held.starts(with: Self.mark) { commentsEnd = Self.mark.count }
        held.withUnsafeBytes { bytes in
            while commentsEnd < Self.maxCommentBytes, let end = bytes.offset(of: Byte.lineFeed, from: commentsEnd),
                end - commentsEnd < ListDetector.windowBytes
            {
                let line = bytes.part(commentsEnd..<end).trimmed { Byte.isBlank($0) || $0 == Byte.carriageReturn }
                guard line.isEmpty || line.isComment else { return }
                commentsEnd = end + 1
            }
        }
    }

    private func find(isWhole: Bool) throws(PhotoListError) -> ListDetector.Finding {
        // The number of examined bytes must not depend on the chunks, so that a list always has the same format.
        let window = min(held.count, examinedBytes ?? .max, commentsEnd + ListDetector.windowBytes)
        let result: Result<ListDetector.Finding, PhotoListError> = held.withUnsafeBytes { bytes in
            Result { () throws(PhotoListError) in
                try ListDetector(
                    bytes.part(0..<window), isWhole: isWhole && window == bytes.count, ending: ending, columns: columns,
                    quotes: quotes
                )
                .find()
            }
        }
        return try result.get()
    }

    private mutating func begin(_ finding: ListDetector.Finding) {
        switch finding {
        case .text:
            (format, content) = (.text, .text(RecordSplitter(), TextListParser()))
        case .separated(let layout):
            guess = layout.guess
            // Quotation marks in the lines before the table have no meaning.
            let firstLine = 1 + held.prefix(layout.start).count { $0 == Byte.lineFeed }
            held.removeFirst(layout.start)
            let splitter = RecordSplitter(
                quotedFieldDelimiter: layout.quotes == .csv ? layout.delimiter : nil, firstLine: firstLine)
            (format, content) = (.separated, .separated(splitter, SeparatedListParser(layout)))
        case .jsonLines:
            (format, content) = (.jsonLines, .jsonLines(RecordSplitter(), JSONLinesParser()))
        case .json:
            (format, content) = (.json, .json)
        case .propertyList:
            format = .propertyList
        }
    }

    private mutating func parseHeld(isLast: Bool, _ receive: PhotoListReceiver) throws(PhotoListError) {
        if format == .json, !isLast { return }
        let bytes = held
        held = []
        let result: Result<Void, PhotoListError> = bytes.withUnsafeBytes { chunk in
            Result { () throws(PhotoListError) in try advance(chunk, isLast: isLast, receive) }
        }
        try result.get()
    }

    private mutating func advance(
        _ chunk: UnsafeRawBufferPointer, isLast: Bool, _ receive: PhotoListReceiver
    ) throws(PhotoListError) {
        // The parser is moved out of `content` while it changes, so that its buffers have one owner and are not copied.
        guard let current = content.take() else { return }
        switch current {
        case .text(var splitter, var parser):
            try splitter.split(chunk, isLast: isLast, to: &parser, receive)
            content = .text(splitter, parser)
        case .separated(var splitter, var parser):
            try splitter.split(chunk, isLast: isLast, to: &parser, receive)
            quoteRemark = parser.remark
            content = .separated(splitter, parser)
        case .jsonLines(var splitter, var parser):
            try splitter.split(chunk, isLast: isLast, to: &parser, receive)
            content = .jsonLines(splitter, parser)
        case .json:
            var parser = JSONListParser()
            try parser.parse(chunk, receive)
            content = .json
        case .propertyList(let parser):
            if isLast { try parser.parse(receive) }
            content = .propertyList(parser)
        }
    }
}
