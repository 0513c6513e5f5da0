import DarkroomModel

/// JSONL: one string or object per line. Blank lines, and comments before the first other line, are skipped. A line that
/// is not JSON becomes an invalid entry.
struct JSONLinesParser: RecordReceiver {
    private var reader = JSONEntryReader()
    private var isAtStart = true

    mutating func take(_ record: UnsafeRawBufferPointer, line: Int, _ receive: PhotoListReceiver) {
        var scanner = JSONScanner(record)
        guard let first = scanner.peek(), !isAtStart || first != Byte.hash else { return }
        isAtStart = false
        do throws(JSONScanner.Failure) {
            // The whole line is checked first, so that it becomes exactly one entry, valid or invalid.
            try scanner.skipValue()
            guard scanner.peek() == nil else { throw scanner.failure("the end of the line") }
            scanner = JSONScanner(record)
            reader.line = line
            try reader.entry(&scanner, receive)
        } catch {
            let problem = PhotoURL.redactingWords(error.message)
            let url =
                "line \(line) is not JSON (\(problem)): \(PhotoURL.redactingWords(record.excerpt(maxBytes: 100)))"
            ListEntry.with(name: "line \(line)", url: url, line: line, receive)
        }
    }
}
