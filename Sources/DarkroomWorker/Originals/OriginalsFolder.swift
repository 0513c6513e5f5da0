import DarkroomCoding
import DarkroomFiles
import DarkroomModel
import Foundation

/// A folder of downloaded bytes as they came, a file for each URL: `<first 2 digits>/<SHA-256 of the URL, hexadecimal>`.
///
/// A file that is there is whole: it was written under a hidden name beside it, made durable and renamed. So batches and
/// workers share a folder without knowing of each other; who comes last replaces a file by the same bytes.
struct OriginalsFolder: Sendable {
    let place: OutputPlace
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
        do throws(SystemFailure) {
            return try place.open().contents(of: Self.file(of: url), maxBytes: maxBytes)
        } catch {
            if error.error == EFBIG { throw .tooLarge }
            return nil
        }
    }

    /// Writes the bytes of a URL's file, whole or not at all. Blocks.
    /// - Parameter temporaryName: hidden and unique among all workers, see ``temporaryName(for:of:)``.
    func write(_ bytes: [UInt8], of url: String, temporaryName: String) throws(OutputWriter.Failure) {
        // The folder itself is never made here: a share that is not mounted any more must stay empty.
        try OutputWriter.write(
            bytes, to: Self.file(of: url), in: place, temporaryName: temporaryName,
            isDurable: true)
    }

    /// What the temporary file of a photo is called in its temporary name: of several batches that write the same file
    /// at once, none removes another's.
    static func temporaryName(for record: PhotoRecord, of batch: BatchID) -> String { "\(batch)-\(record.index)" }

    /// The absolute path.
    var path: String { place.folder }

    /// The folders below it in which the files of photos lie.
    func folders(of records: [PhotoRecord]) -> Set<String> {
        Set(records.map { String(Self.file(of: $0.url).prefix(2)) })
    }
}
