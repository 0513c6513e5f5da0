/// JSONL: a string or an object a line; blank lines are skipped, and a line that is no JSON becomes an entry that fails.
struct JSONLinesParser: RecordReceiver {
    private var reader = JSONEntryReader()

    mutating func take(_ record: UnsafeRawBufferPointer, line: Int, _ receive: PhotoListReceiver) {
        var scanner = JSONScanner(record)
        guard scanner.peek() != nil else { return }
        do throws(JSONScanner.Failure) {
            // Checked first: an entry is handed on once, as good or as bad.
            try scanner.skipValue()
            guard scanner.peek() == nil else { throw scanner.failure("the end of the line") }
            scanner = JSONScanner(record)
            try reader.entry(&scanner, receive)
        } catch {
            var name = "line \(line)",
                url = "line \(line) is no JSON (\(error.message)): \(record.excerpt(maxBytes: 100))"
            name.withUTF8 { name in
                url.withUTF8 { receive(UnsafeRawBufferPointer(name), UnsafeRawBufferPointer($0)) }
            }
        }
    }
}
