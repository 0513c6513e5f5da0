import DarkroomModel

/// Converts JSON values to entries. A string is a URL. An object contains a URL and optionally a name, under keys of
/// `FieldNames`. Any other value becomes an invalid entry with a description of the value.
struct JSONEntryReader {
    /// The line of the next entry; nil if the entries are in one document.
    var line: Int?

    private var scratch = PhotoURL.Scratch()
    private var urlBytes: [UInt8] = []
    private var nameBytes: [UInt8] = []
    private var keyBytes: [UInt8] = []

    /// Reads the next value as an entry.
    mutating func entry(
        _ scanner: inout JSONScanner, _ receive: PhotoListReceiver
    ) throws(JSONScanner.Failure) {
        switch try scanner.kind() {
        case .string: emit(name: nil, url: try scanner.string(), receive)
        case .object: try object(&scanner, receive)
        case .array, .number, .literal:
            emit(name: nil, text: "\(try scanner.describeValue()) in place of a URL", receive)
        }
    }

    /// Reads the next value as the URL of the entry with the name `name`.
    mutating func entry(
        named name: JSONScanner.Text, _ scanner: inout JSONScanner, _ receive: PhotoListReceiver
    ) throws(JSONScanner.Failure) {
        if try scanner.kind() == .string {
            emit(name: name, url: try scanner.string(), receive)
        } else {
            emit(name: name, text: "\(try scanner.describeValue()) in place of a URL", receive)
        }
    }

    /// Passes on an invalid entry with `text` in place of the URL.
    mutating func emit(name: JSONScanner.Text?, text: String, _ receive: PhotoListReceiver) {
        var text = text
        text.withUTF8 { url in
            emit(name: name, url: JSONScanner.Text(raw: UnsafeRawBufferPointer(url), hasEscapes: false), receive)
        }
    }

    private mutating func object(
        _ scanner: inout JSONScanner, _ receive: PhotoListReceiver
    ) throws(JSONScanner.Failure) {
        var url: JSONScanner.Text?, name: JSONScanner.Text?
        var urlRank = Int.max, nameRank = Int.max
        var found = "no URL among the keys"
        let start = scanner.position
        try scanner.members { (scanner, key) throws(JSONScanner.Failure) in
            let ranks = key.withBytes(&keyBytes) { (FieldNames.urlRank($0), FieldNames.nameRank($0)) }
            guard try scanner.kind() == .string else {
                if ranks.0 == nil { return try scanner.skipValue() }
                found = "\(try scanner.describeValue()) in place of a URL"
                return
            }
            let value = try scanner.string()
            if let rank = ranks.0, rank < urlRank { (url, urlRank) = (value, rank) }
            if let rank = ranks.1, rank < nameRank { (name, nameRank) = (value, rank) }
        }
        if let url { return emit(name: name, url: url, receive) }
        let object = scanner.bytes.part(start..<scanner.position).excerpt(maxBytes: 100)
        emit(name: name, text: "\(found) of \(PhotoURL.redactingWords(object))", receive)
    }

    private mutating func emit(name: JSONScanner.Text?, url: JSONScanner.Text, _ receive: PhotoListReceiver) {
        url.withBytes(&urlBytes) { url in
            let url = url.trimmed
            guard let name, !name.raw.isEmpty else {
                return ListEntry.pass(url, line: line, &scratch, to: receive)
            }
            name.withBytes(&nameBytes) { receive(ListEntry(name: $0, url: url, line: line)) }
        }
    }
}
