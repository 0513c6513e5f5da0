import DarkroomModel

/// Receives records from a `RecordSplitter`.
protocol RecordReceiver {
    /// Receives a record without its line end. `line` is the number of the record's first line, from 1.
    mutating func take(_ record: UnsafeRawBufferPointer, line: Int, _ receive: PhotoListReceiver)

    /// Receives complete lines in which a quoted field is not closed or is too long. The last line end is omitted.
    /// Returns false if the lines cannot be read as separate rows.
    mutating func takeUnclosed(
        _ record: UnsafeRawBufferPointer, isClosed: Bool, line: Int, _ receive: PhotoListReceiver
    ) -> Bool
}

extension RecordReceiver {
    mutating func takeUnclosed(
        _ record: UnsafeRawBufferPointer, isClosed: Bool, line: Int, _ receive: PhotoListReceiver
    ) -> Bool { false }
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

    /// The delimiter between fields that may be quoted; nil if quotes have no meaning.
    private let quotedFieldDelimiter: UInt8?
    /// The state of the field at the end of the bytes read so far.
    private var fieldState = QuotedFieldState.start
    /// The stored bytes of the current record from earlier chunks.
    private var pending: [UInt8] = []
    /// The number of bytes of the current record in earlier chunks.
    private var pendingBytes = 0
    private var line: Int
    private var recordLine: Int

    /// Creates a splitter for CSV records with the delimiter `quotedFieldDelimiter`; if nil, for lines.
    /// - Parameter firstLine: The number of the first line.
    init(quotedFieldDelimiter: UInt8? = nil, firstLine: Int = 1) {
        self.quotedFieldDelimiter = quotedFieldDelimiter
        line = firstLine
        recordLine = firstLine
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
                if try endsOpenQuote(chunk.part(start..<end), to: &receiver, receive) { start = end + 1 }
            } else {
                finish(chunk.part(start..<end), to: &receiver, receive)
                start = end + 1
            }
            position = end + 1
        }
        follow(chunk.part(position..<chunk.count))
        if isLast {
            if fieldState == .quoted {
                let rest = chunk.part(start..<chunk.count)
                guard passUnclosed(rest, to: &receiver, receive) else { throw openQuote("before the list ends") }
            } else if pendingBytes + chunk.count - start > 0 {
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
        let length = pendingBytes + rest.count
        let isLong = length > Self.maxRecordBytes
        if isLong, pending.contains(Byte.lineFeed) || rest.contains(Byte.lineFeed) {
            recordLine = line
            if passUnclosed(rest, isClosed: true, to: &receiver, receive) { return }
            recordLine = self.line
        }
        fieldState = .start
        guard !isLong else {
            let url = "URL of \(length) bytes, too long"
            pending.removeAll()
            pendingBytes = 0
            return ListEntry.with(name: "line \(line)", url: url, line: line, receive)
        }
        guard pendingBytes > 0 else { return receiver.take(withoutCarriageReturn(rest), line: line, receive) }
        pending.append(contentsOf: rest)
        pending.withUnsafeBytes { receiver.take(withoutCarriageReturn($0), line: line, receive) }
        pending.removeAll(keepingCapacity: true)
        pendingBytes = 0
    }

    private mutating func keep(_ part: UnsafeRawBufferPointer) {
        pendingBytes += part.count
        // The last line of an open quoted field may be as long as a record.
        let room = fieldState == .quoted ? 2 * Self.maxRecordBytes : Self.maxRecordBytes
        if pendingBytes <= room { pending.append(contentsOf: part) } else { pending.removeAll() }
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
        for byte in part { fieldState.advance(over: byte, delimiter: delimiter) }
    }

    /// Whether a quoted field that is still open after `rest` is too long. Without its closing quote, all later photos
    /// would silently be lost, so the lines up to here are read as if the quotation mark were text.
    private mutating func endsOpenQuote(
        _ rest: UnsafeRawBufferPointer, to receiver: inout some RecordReceiver, _ receive: PhotoListReceiver
    ) throws(PhotoListError) -> Bool {
        guard pendingBytes + rest.count > Self.maxRecordBytes else { return false }
        guard passUnclosed(rest, to: &receiver, receive) else { throw openQuote("within 1 MiB") }
        return true
    }

    /// Passes on the current record, whose last bytes are `rest`, as lines.
    private mutating func passUnclosed(
        _ rest: UnsafeRawBufferPointer, isClosed: Bool = false, to receiver: inout some RecordReceiver,
        _ receive: PhotoListReceiver
    ) -> Bool {
        guard pending.count == pendingBytes, pendingBytes + rest.count <= 2 * Self.maxRecordBytes else { return false }
        pending.append(contentsOf: rest)
        let first = recordLine
        let isTaken = pending.withUnsafeBytes {
            receiver.takeUnclosed(withoutCarriageReturn($0), isClosed: isClosed, line: first, receive)
        }
        guard isTaken else { return false }
        recordLine = line
        fieldState = .start
        pending.removeAll(keepingCapacity: true)
        pendingBytes = 0
        return true
    }

    private func openQuote(_ where: String) -> PhotoListError {
        PhotoListError(
            .damaged, line: recordLine,
            "a field begins with a quote (\") that is not closed \(`where`); close it, or double the quotes in a quoted field",
            .readQuotesAsText)
    }
}
