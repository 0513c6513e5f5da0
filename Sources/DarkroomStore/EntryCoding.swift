import DarkroomCoding
import DarkroomModel

/// The form of an operation's entry in Redis: a version byte, then its lines (see `OperationEntry`), deflated.
package enum EntryCoding {
    /// The first byte of an entry: zlib format, lines of name, tab, URL.
    package static let version: UInt8 = 1

    /// The records of an entry whose first photo has the index `firstIndex`.
    /// - Throws: ``StoreError`` with the code `damagedEntry` if the entry is damaged, or a newer version wrote it.
    package static func records(of entry: [UInt8], firstIndex: Int) throws(StoreError) -> [PhotoRecord] {
        OperationEntry.records(of: try lines(of: entry), firstIndex: firstIndex)
    }

    static func lines(of entry: [UInt8]) throws(StoreError) -> [UInt8] {
        guard entry.first == version else {
            throw StoreError(
                .damagedEntry,
                "operation entry: version \(entry.first.map(String.init) ?? "none"), this program reads \(version); "
                    + "bring all machines to one version")
        }
        do {
            return try Deflate.decompress(entry[1...], maxBytes: OperationEntry.maxBytes)
        } catch {
            throw StoreError(.damagedEntry, "operation entry of \(entry.count) bytes: \(error)")
        }
    }
}
