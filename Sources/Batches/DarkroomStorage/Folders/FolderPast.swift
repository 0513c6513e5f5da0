import DarkroomCoding
import DarkroomFiles
import DarkroomModel
import Glibc

/// The manifest files of earlier claims of an operation in a folder.
struct FolderPast: PastResults {
    private let place: OutputPlace
    private let operation: Int
    private let output: Folder
    private let path: String
    /// The folder of the manifest files; nil if it does not exist.
    private let folder: Folder?
    let fencingTokens: [Int]

    /// - Throws: ``StorageFault`` if the folder cannot be read.
    init(_ held: HeldOperation, _ storage: FolderStorage) throws(StorageFault) {
        place = storage.manifestPlace
        operation = held.number
        path = storage.manifestFolder(of: held)
        do throws(SystemFailure) {
            output = try place.open()
            folder = try Self.existing(path, in: output)
            fencingTokens =
                try folder.map { folder throws(SystemFailure) in
                    try ManifestPath.listedFencingTokens(ofOperation: held.number, in: folder)
                } ?? []
        } catch {
            throw place.fault(reading: path, error)
        }
    }

    /// Opens a folder. Returns nil if it does not exist.
    private static func existing(_ path: String, in output: Folder) throws(SystemFailure) -> Folder? {
        do throws(SystemFailure) {
            return try output.folder(path)
        } catch {
            guard error.error == ENOENT else { throw error }
            return nil
        }
    }

    func text(fencingToken: Int) throws(StorageFault) -> [UInt8]? {
        let name = ManifestPath.fileName(operation: operation, fencingToken: fencingToken)
        do throws(SystemFailure) {
            return try folder?.contents(of: name, maxBytes: 1 << 28)
        } catch {
            switch error.error {
            case ENOENT: return nil
            // A link, a folder, a pipe or a large file, which no worker has written.
            case ELOOP, EINVAL, EFBIG: return nil
            default: throw place.fault(reading: path + "/" + name, error)
            }
        }
    }

    func file(at path: String) -> (byteCount: Int, sha256: String)? {
        // A file that cannot be read counts as missing, see `PastResults`.
        guard let file = try? output.contents(of: path, maxBytes: 1 << 30) else { return nil }
        return (file.count, Hexadecimal.text(file.withUnsafeBytes { SHA256Digest.hash(of: $0) }))
    }
}
