import DarkroomModel

/// A list that is one JSON document: an object that maps names to URLs, or an array of URLs or objects.
///
/// The entries of an object keep the order of the document. A name may occur twice.
struct JSONListParser {
    private var reader = JSONEntryReader()

    /// Passes the entries of `bytes` to `receive`. If any part of the document is damaged, no entry is passed on.
    mutating func parse(_ bytes: UnsafeRawBufferPointer, _ receive: PhotoListReceiver) throws(PhotoListError) {
        do throws(JSONScanner.Failure) {
            var check = JSONScanner(bytes)
            try check.skipValue()
            guard check.peek() == nil else { throw check.failure("the end (one document; JSONL files end in .jsonl)") }
            var scanner = JSONScanner(bytes)
            if try scanner.kind() == .object {
                try scanner.members { (scanner, name) throws(JSONScanner.Failure) in
                    try reader.entry(named: name, &scanner, receive)
                }
            } else {
                try scanner.elements { (scanner) throws(JSONScanner.Failure) in
                    try reader.entry(&scanner, receive)
                }
            }
        } catch {
            let line = bytes[..<min(error.offset, bytes.count)].count { $0 == Byte.lineFeed } + 1
            throw PhotoListError(.damaged, line: line, "the JSON is damaged or ends too early: found \(error.message)")
        }
    }
}
