import DarkroomCoding

/// The photos of one operation, in the order of the list.
///
/// Redis stores an entry packed: a version byte, then the photos as text, deflated (zlib format). Each line of the text
/// contains a name, a tab and a URL. Backslash, tab, LF and CR are escaped in names and URLs.
package struct OperationEntry {
    /// The maximum length of the text: 1 MiB.
    package static let maxBytes = 1 << 20
    /// The first byte of a packed entry.
    static let version: UInt8 = 1

    /// The maximum number of photos. Each photo may use an equal share of ``maxBytes``.
    package let operationSize: Int
    package private(set) var text: [UInt8] = []

    /// Creates an entry without photos.
    package init(operationSize: Int) { self.operationSize = operationSize }

    /// Removes all photos, and keeps the memory.
    package mutating func removeAll() { text.removeAll(keepingCapacity: true) }

    /// Appends a photo.
    ///
    /// If the photo needs more bytes than its share, its name is truncated and its URL is replaced with a text that is
    /// not a URL. The photo then fails like any photo without a URL.
    package mutating func append(_ entry: ListEntry) {
        let start = text.count
        append(entry.name, entry.url)
        guard text.count - start > Self.maxBytes / operationSize else { return }
        text.removeLast(text.count - start)
        // The name is cut to a quarter of the share: escaping may double its length, and the text below must fit.
        let cut = UnsafeRawBufferPointer(rebasing: entry.name.prefix(Self.maxBytes / operationSize / 4))
        var explanation = "URL of \(entry.url.count) bytes, too long for operations of \(operationSize)"
        explanation.withUTF8 { append(cut, UnsafeRawBufferPointer($0)) }
    }

    private mutating func append(_ name: UnsafeRawBufferPointer, _ url: UnsafeRawBufferPointer) {
        Self.appendEscaped(name, to: &text)
        text.append(Self.tab)
        Self.appendEscaped(url, to: &text)
        text.append(Self.lineFeed)
    }

    /// The entry as Redis stores it.
    /// - Parameter deflater: a compressor, which the caller can use for many entries.
    package func packed(by deflater: Deflater = Deflater()) -> [UInt8] { [Self.version] + deflater.compress(text) }

    /// The photos as a worker will read them.
    /// - Parameter firstIndex: the index of the first photo in the batch.
    package func records(firstIndex: Int) -> [PhotoRecord] { Self.records(in: text, firstIndex: firstIndex) }

    /// Unpacks an entry.
    ///
    /// Bytes that are not valid UTF-8 are replaced. In a line without a tab, the URL is empty.
    /// - Parameter firstIndex: the index of the first photo in the batch.
    /// - Throws: ``EntryError`` if the entry is damaged or has a newer version.
    package static func records(of packed: [UInt8], firstIndex: Int) throws(EntryError) -> [PhotoRecord] {
        guard packed.first == version else {
            throw EntryError(
                "operation entry: version \(packed.first.map(String.init) ?? "none"), this program reads \(version); "
                    + "bring all machines to one version")
        }
        let text: [UInt8]
        do {
            text = try Deflate.decompress(packed[1...], maxBytes: maxBytes)
        } catch {
            throw EntryError("operation entry of \(packed.count) bytes: \(error)")
        }
        return records(in: text, firstIndex: firstIndex)
    }

    private static func records(in text: [UInt8], firstIndex: Int) -> [PhotoRecord] {
        var records: [PhotoRecord] = []
        text.withUnsafeBufferPointer { bytes in
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

    private static func appendEscaped(_ bytes: UnsafeRawBufferPointer, to text: inout [UInt8]) {
        guard bytes.contains(where: { $0 <= 13 || $0 == backslash }) else {
            text.append(contentsOf: bytes)
            return
        }
        for byte in bytes {
            if let escape = escape(of: byte) {
                text.append(backslash)
                text.append(escape)
            } else {
                text.append(byte)
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

/// An error: the entry of an operation cannot be read.
package struct EntryError: Error, Sendable, CustomStringConvertible {
    /// The defect, and the remedy.
    package let description: String

    package init(_ description: String) { self.description = description }
}
