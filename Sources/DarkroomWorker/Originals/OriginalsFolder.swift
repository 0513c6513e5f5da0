import DarkroomCoding
import DarkroomModel
import Foundation

/// A folder of downloaded bytes as they came, a file for each URL: `<first 2 digits>/<SHA-256 of the URL, hexadecimal>`.
///
/// A file that is there is whole: it was written under a hidden name beside it, made durable and renamed. So batches and
/// workers share a folder without knowing of each other; who comes last replaces a file by the same bytes.
struct OriginalsFolder: Sendable {
    /// The absolute path.
    let path: String
    /// The most bytes that are read of a file.
    let maxBytes: Int

    /// The path of a URL's file below the folder.
    static func file(of url: String) -> String {
        let digest = Hexadecimal.text(SHA256Digest.hash(of: Array(url.utf8)))
        return digest.prefix(2) + "/" + digest
    }

    /// Why a file that is there is not used.
    enum Unusable: Error, Equatable {
        case tooLarge
    }

    /// The bytes of a URL's file; nil when there is none that can be read, so that it is to be downloaded (again). Blocks.
    func read(_ url: String) throws(Unusable) -> [UInt8]? {
        // O_NONBLOCK: a pipe without a writer must not hold the thread.
        let descriptor = open(path + "/" + Self.file(of: url), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        guard status.st_size <= maxBytes else { throw .tooLarge }
        let size = Int(status.st_size)
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                // Not reached with a size of 0, which has no address.
                let got = Foundation.read(descriptor, buffer.baseAddress! + count, size - count)
                if got < 0 && errno == EINTR { continue }
                guard got > 0 else { break }
                count += got
            }
        }
        return bytes.count == size ? bytes : nil
    }

    /// Writes the bytes of a URL's file, whole or not at all. Blocks.
    /// - Parameter temporaryName: hidden and unique among all workers, see ``temporaryName(for:of:)``.
    func write(_ bytes: [UInt8], of url: String, temporaryName: String) throws(OutputWriter.Failure) {
        // The folder itself is never made here: a share that is not mounted any more must stay empty.
        try OutputWriter.write(
            bytes, to: Self.file(of: url), in: OutputPlace(folder: path, sign: nil), temporaryName: temporaryName,
            isDurable: true)
    }

    /// What the temporary file of a photo is called in its temporary name: of several batches that write the same file
    /// at once, none removes another's.
    static func temporaryName(for record: PhotoRecord, of batch: BatchID) -> String { "\(batch)-\(record.index)" }

    /// The folders in which the files of photos lie.
    func folders(of records: [PhotoRecord]) -> Set<String> {
        Set(records.map { path + "/" + Self.file(of: $0.url).prefix(2) })
    }
}
