/// The photos of one operation as text. Each line contains a name, a tab and a URL. Backslash, tab, LF and CR are
/// escaped in names and URLs.
///
/// Redis stores this text deflated, after a version byte.
package enum OperationEntry {
    /// The maximum length of an entry before it is deflated: 1 MiB.
    package static let maxBytes = 1 << 20

    /// Appends the line of one photo to an entry.
    ///
    /// Each photo may use an equal share of `maxBytes`. If a photo needs more bytes, its name is truncated and its URL
    /// is replaced with a text that is not a URL. The photo then fails like any photo without a URL.
    package static func append(
        name: UnsafeRawBufferPointer, url: UnsafeRawBufferPointer, operationSize: Int, to entry: inout [UInt8]
    ) {
        let start = entry.count
        appendEscaped(name, to: &entry)
        entry.append(tab)
        appendEscaped(url, to: &entry)
        entry.append(lineFeed)
        guard entry.count - start > maxBytes / operationSize else { return }
        entry.removeLast(entry.count - start)
        // The name is cut to a quarter of the share: escaping may double its length, and the text below must fit.
        let cut = UnsafeRawBufferPointer(rebasing: name.prefix(maxBytes / operationSize / 4))
        appendEscaped(cut, to: &entry)
        entry.append(tab)
        entry.append(contentsOf: "URL of \(url.count) bytes, too long for operations of \(operationSize)".utf8)
        entry.append(lineFeed)
    }

    /// Parses an entry whose first photo has the index `firstIndex`.
    ///
    /// Bytes that are not valid UTF-8 are replaced. In a line without a tab, the URL is empty.
    package static func records(of entry: [UInt8], firstIndex: Int) -> [PhotoRecord] {
        var records: [PhotoRecord] = []
        entry.withUnsafeBufferPointer { bytes in
            var position = 0
            while position < bytes.count {
                let end = bytes[position...].firstIndex(of: lineFeed) ?? bytes.count
                let line = UnsafeBufferPointer(rebasing: bytes[position..<end])
                let separator = line.firstIndex(of: tab) ?? line.count
                let name = unescaped(UnsafeBufferPointer(rebasing: line[..<separator]))
                let url = unescaped(UnsafeBufferPointer(rebasing: line[min(separator + 1, line.count)...]))
                records.append(PhotoRecord(index: firstIndex + records.count, name: name, url: url))
                position = end + 1
            }
        }
        return records
    }

    private static let tab = UInt8(ascii: "\t")
    private static let lineFeed = UInt8(ascii: "\n")
    private static let backslash = UInt8(ascii: "\\")

    private static func escape(of byte: UInt8) -> UInt8? {
        switch byte {
        case backslash: backslash
        case tab: UInt8(ascii: "t")
        case lineFeed: UInt8(ascii: "n")
        case 13: UInt8(ascii: "r")
        default: nil
        }
    }

    private static func appendEscaped(_ bytes: UnsafeRawBufferPointer, to entry: inout [UInt8]) {
        guard bytes.contains(where: { $0 <= 13 || $0 == backslash }) else {
            entry.append(contentsOf: bytes)
            return
        }
        for byte in bytes {
            if let escape = escape(of: byte) {
                entry.append(backslash)
                entry.append(escape)
            } else {
                entry.append(byte)
            }
        }
    }

    private static func unescaped(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        guard bytes.contains(backslash) else { return String(decoding: bytes, as: UTF8.self) }
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            if bytes[position] == backslash, position + 1 < bytes.count {
                position += 1
                switch bytes[position] {
                case UInt8(ascii: "t"): plain.append(tab)
                case UInt8(ascii: "n"): plain.append(lineFeed)
                case UInt8(ascii: "r"): plain.append(13)
                default: plain.append(bytes[position])
                }
            } else {
                plain.append(bytes[position])
            }
            position += 1
        }
        return String(decoding: plain, as: UTF8.self)
    }
}
