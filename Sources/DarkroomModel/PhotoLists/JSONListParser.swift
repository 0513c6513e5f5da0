/// A whole JSON document: an object name -> URL, or an array of URLs or of objects.
///
/// An object's entries come in the order of the text, and a name may stand there twice.
struct JSONListParser {
    private var reader = JSONEntryReader()

    /// Hands on the entries of `bytes`; none of them when the document is damaged anywhere.
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
