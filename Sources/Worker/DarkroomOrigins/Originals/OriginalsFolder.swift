import DarkroomCoding
import DarkroomFiles
import DarkroomModel
import DarkroomStorage
import DarkroomTransfer
import Foundation

/// A folder of unchanged downloaded bytes. The file of a URL is `<first 2 digits>/<SHA-256 of the URL, hexadecimal>`.
///
/// Each file is complete: it is written under a hidden name in the same folder, synced to disk and then renamed.
/// Therefore batches and workers share a folder without coordination. If two workers write the same file, the later
/// rename wins.
///
/// The rules of a worker may forbid bytes that came from a private address or through several hosts. For such bytes, a
/// file `<digest>.way` lists the host and the address of each request, one request per line. This file is written
/// before the bytes and is never removed.
package struct OriginalsFolder: Sendable {
    private let place: OutputPlace
    /// The largest number of bytes that is read from a file.
    package let maxBytes: Int

    package init(place: OutputPlace, maxBytes: Int) {
        self.place = place
        self.maxBytes = maxBytes
    }

    /// The path of the file of a URL, relative to the folder.
    package static func file(of url: String) -> String {
        let digest = Hexadecimal.text(SHA256Digest.hash(of: Array(url.utf8)))
        return digest.prefix(2) + "/" + digest
    }

    /// Returns the bytes and the time of a URL's file. Returns nil if the file is missing, unreadable, or not allowed by `rules`, so
    /// that the URL must be downloaded. Blocks.
    /// - Throws: ``SystemFailure`` with `EFBIG` if the file is larger than ``maxBytes``.
    package func read(
        _ url: String, _ rules: FetchRules
    ) throws(SystemFailure) -> (bytes: [UInt8], time: FileTime)? {
        do throws(SystemFailure) {
            let folder = try place.open(), file = Self.file(of: url)
            let found = try folder.contentsAndTime(of: file, maxBytes: maxBytes)
            // The `.way` file is read after the bytes, because workers write it before the bytes.
            guard let way = Self.way(of: file, in: folder) else { return found }
            return rules.allow(way) ? found : nil
        } catch {
            guard error.error != EFBIG else { throw error }
            return nil
        }
    }

    /// The requests that fetched a file's bytes; nil if there is no `.way` file. If a line contains no address, or if the
    /// file cannot be read or is too large, the address of the request is "", which no rules allow.
    private static func way(of file: String, in folder: Folder) -> [RequestStop]? {
        do throws(SystemFailure) {
            let text = String(decoding: try folder.contents(of: file + ".way", maxBytes: 64 << 10), as: UTF8.self)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            guard !lines.isEmpty else { return [unknown] }
            return lines.map { line in
                let words = line.split(separator: " ", maxSplits: 1)
                return RequestStop(host: String(words.first ?? ""), address: words.count == 2 ? String(words[1]) : "")
            }
        } catch {
            return error.error == ENOENT ? nil : [unknown]
        }
    }

    private static let unknown = RequestStop(host: "", address: "")

    /// Writes the bytes of a URL's file, either completely or not at all. Blocks.
    /// - Parameters:
    ///   - way: the requests that fetched the bytes.
    ///   - time: the time of the file; nil for the current time.
    ///   - held: the operation of the photo.
    ///   - writer: a name that is unique among all writes of all workers.
    package func write(
        _ bytes: [UInt8], of record: PhotoRecord, by way: [RequestStop], time: FileTime? = nil, for held: HeldOperation,
        writer: String
    ) throws(StorageFault) {
        let temporaryName = TemporaryName.of(
            TemporaryName.photo(record.index, of: held.batch), fencingToken: held.fencingToken, writer: writer)
        if !FetchRules.isOrdinary(way) {
            let lines = way.map { "\($0.host) \($0.address)\n" }.joined()
            try write(Array(lines.utf8), to: Self.file(of: record.url) + ".way", temporaryName)
        }
        try write(bytes, to: Self.file(of: record.url), temporaryName, time)
    }

    /// Removes the file of a URL, so that the next photo with this URL downloads the bytes again. If another worker has
    /// already replaced the file, the new file stays. If the other worker replaces the file between the comparison and
    /// the removal, the new file is removed, and the next photo downloads the bytes again. Blocks.
    /// - Parameter digest: the SHA-256 digest of the bytes.
    /// - Returns: true if the file no longer exists.
    package func remove(_ url: String, ifDigestIs digest: [UInt8]) -> Bool {
        do throws(SystemFailure) {
            let folder = try place.open(), file = Self.file(of: url)
            guard SHA256Digest.hash(of: try folder.contents(of: file, maxBytes: maxBytes)) == digest else {
                return false
            }
            try folder.remove(file)
            return true
        } catch {
            return error.error == ENOENT
        }
    }

    private func write(
        _ bytes: [UInt8], to file: String, _ temporaryName: String, _ time: FileTime? = nil
    ) throws(StorageFault) {
        // Creates only subfolders of the folder, because the mount point of an unmounted file system must stay empty.
        try AtomicFiles.write(
            bytes, to: file, in: place, temporaryName: temporaryName, time: time, isDurable: true)
    }

    /// Removes the temporary files of these photos that crashed workers with lower fencing tokens have left.
    package func removeRemains(of held: HeldOperation, _ records: [PhotoRecord]) {
        // If the folder cannot be opened, its temporary files stay, which does no harm.
        guard let root = try? place.open() else { return }
        let names = Set(records.map { TemporaryName.photo($0.index, of: held.batch) })
        for folder in Set(records.map { String(Self.file(of: $0.url).prefix(2)) }) {
            TemporaryName.remove(names, below: held.fencingToken, in: folder, root)
        }
    }

    package var path: String { place.folder }

    /// The file system of the folder; nil if the folder cannot be read. Blocks.
    package var domain: StorageDomain? { StorageDomain(of: place.folder) }
}
