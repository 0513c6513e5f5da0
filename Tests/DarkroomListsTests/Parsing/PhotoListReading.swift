@testable import DarkroomLists

/// The entries of a list that is parsed in chunks of `step` bytes.
func entries(
    of bytes: [UInt8], named name: String = "", step: Int = .max, maxWholeBytes: Int = PhotoListParser.maxWholeBytes
) throws -> [PhotoListEntry] {
    var parser = PhotoListParser(listName: name, maxWholeBytes: maxWholeBytes)
    var entries: [PhotoListEntry] = []
    var start = 0
    repeat {
        let end = step < bytes.count - start ? start + step : bytes.count
        try Array(bytes[start..<end]).withUnsafeBytes { chunk in
            try parser.parse(chunk, isLast: end == bytes.count) { entries.append(PhotoListEntry($0)) }
        }
        start = end
    } while start < bytes.count
    return entries
}

/// The entries of a list as `name=url`. If the entries depend on the chunk size, the first line names the size.
func lines(of text: String, named name: String = "") throws -> [String] {
    let bytes = Array(text.utf8)
    let whole = try entries(of: bytes, named: name)
    for step in [1, 2, 3, 7] {
        let stepped = try entries(of: bytes, named: name, step: step)
        guard stepped == whole else { return ["in steps of \(step)"] + stepped.map { "\($0.name)=\($0.url)" } }
    }
    return whole.map { "\($0.name)=\($0.url)" }
}

/// The error of reading a list; nil if reading succeeds.
func failure(of bytes: [UInt8], named name: String = "", step: Int = .max) -> PhotoListError? {
    do {
        _ = try entries(of: bytes, named: name, step: step)
        return nil
    } catch {
        return error as? PhotoListError
    }
}
