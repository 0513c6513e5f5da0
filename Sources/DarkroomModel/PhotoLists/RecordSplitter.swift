/// Receives records from a `RecordSplitter`.
protocol RecordReceiver {
    /// Receives a record without its line end. `line` is the number of the record's first line, from 1.
    mutating func take(_ record: UnsafeRawBufferPointer, line: Int, _ receive: PhotoListReceiver)
}

/// Splits chunks of any size into records: lines, or CSV records, whose quoted fields may contain line ends (RFC 4180).
///
/// DESIGN. `memchr` finds the line ends. A record that lies in one chunk is passed on without a copy. Only a record
/// that crosses the end of a chunk is copied. To bound the memory, a record longer than `maxRecordBytes` is not stored:
/// its bytes are only counted, and it becomes an invalid entry. Only lines that contain quotes are scanned byte by
/// byte, and only once.
struct RecordSplitter {
    /// The maximum length of a stored record: 1 MiB.
    static let maxRecordBytes = 1 << 20

    /// The state of the field at the end of the bytes read so far.
    private enum FieldState { case start, plain, quoted, quoteWithinQuoted }

    /// The delimiter between fields that may be quoted; nil if quotes have no meaning.
    private let quotedFieldDelimiter: UInt8?
    private var fieldState = FieldState.start
    /// The stored bytes of the current record from earlier chunks.
    private var pending: [UInt8] = []
    /// The number of bytes of the current record in earlier chunks.
    private var pendingBytes = 0
    private var line = 1
    private var recordLine = 1
    private let entryLine: EntryLine

    /// Creates a splitter for CSV records with the delimiter `quotedFieldDelimiter`; if nil, for lines.
    /// - Parameter entryLine: Gets the line of each record before the record is passed on.
    init(quotedFieldDelimiter: UInt8? = nil, _ entryLine: EntryLine = EntryLine()) {
        self.quotedFieldDelimiter = quotedFieldDelimiter
        self.entryLine = entryLine
    }

    /// Passes on the records that end in `chunk`. After the last chunk, also passes on the rest.
    mutating func split(
        _ chunk: UnsafeRawBufferPointer, isLast: Bool, to receiver: inout some RecordReceiver,
        _ receive: PhotoListReceiver
    ) throws(PhotoListError) {
        var start = 0
        var position = 0
        while let end = chunk.offset(of: Byte.lineFeed, from: position) {
            line += 1
            if endsWithinQuotes(line: chunk.part(position..<end)) {
                try checkOpenQuote(bytes: pendingBytes + end - start)
            } else {
                finish(chunk.part(start..<end), to: &receiver, receive)
                start = end + 1
            }
            position = end + 1
        }
        follow(chunk.part(position..<chunk.count))
        if isLast {
            if fieldState == .quoted { throw openQuote("before the list ends") }
            if pendingBytes + chunk.count - start > 0 {
                finish(chunk.part(start..<chunk.count), to: &receiver, receive)
            }
        } else {
            keep(chunk.part(start..<chunk.count))
        }
    }

    /// Ends the current record, whose last bytes are `rest`.
    private mutating func finish(
        _ rest: UnsafeRawBufferPointer, to receiver: inout some RecordReceiver, _ receive: PhotoListReceiver
    ) {
        let line = recordLine
        recordLine = self.line
        entryLine.number = line
        fieldState = .start
        guard pendingBytes + rest.count <= Self.maxRecordBytes else {
            let url = "URL of \(pendingBytes + rest.count) bytes, too long"
            pending.removeAll()
            pendingBytes = 0
            return PhotoListEntry(name: "line \(line)", url: url).pass(to: receive)
        }
        guard pendingBytes > 0 else { return receiver.take(withoutCarriageReturn(rest), line: line, receive) }
        pending.append(contentsOf: rest)
        pending.withUnsafeBytes { receiver.take(withoutCarriageReturn($0), line: line, receive) }
        pending.removeAll(keepingCapacity: true)
        pendingBytes = 0
    }

    private mutating func keep(_ part: UnsafeRawBufferPointer) {
        pendingBytes += part.count
        if pendingBytes <= Self.maxRecordBytes { pending.append(contentsOf: part) } else { pending.removeAll() }
    }

    private func withoutCarriageReturn(_ record: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        record.last == Byte.carriageReturn ? record.part(0..<record.count - 1) : record
    }

    /// Whether the end of a line is inside a quoted field.
    private mutating func endsWithinQuotes(line: UnsafeRawBufferPointer) -> Bool {
        guard quotedFieldDelimiter != nil else { return false }
        // The usual case: no quoted field is open, and the line contains no quote.
        if fieldState == .start || fieldState == .plain, line.offset(of: Byte.quote) == nil { return false }
        follow(line)
        return fieldState == .quoted
    }

    private mutating func follow(_ part: UnsafeRawBufferPointer) {
        guard let delimiter = quotedFieldDelimiter else { return }
        for byte in part { advance(over: byte, delimiter: delimiter) }
    }

    private mutating func advance(over byte: UInt8, delimiter: UInt8) {
        switch fieldState {
        case .start:
            if byte == Byte.quote {
                fieldState = .quoted
            } else if byte != delimiter, byte != Byte.space {
                fieldState = .plain
            }
        case .plain:
            if byte == delimiter { fieldState = .start }
        case .quoted:
            if byte == Byte.quote { fieldState = .quoteWithinQuoted }
        case .quoteWithinQuoted:
            fieldState = byte == Byte.quote ? .quoted : byte == delimiter ? .start : .plain
        }
    }

    /// Throws if a quoted field is too long: its closing quote may be missing, and then all later photos would silently
    /// be lost.
    private func checkOpenQuote(bytes: Int) throws(PhotoListError) {
        if bytes > Self.maxRecordBytes { throw openQuote("within 1 MiB") }
    }

    private func openQuote(_ where: String) -> PhotoListError {
        PhotoListError(
            .damaged, line: recordLine,
            "a field begins with a quote (\") that is not closed \(`where`); close it, or double the quotes in a quoted field"
        )
    }
}
