import DarkroomCoding
import DarkroomFiles
import DarkroomModel
import Foundation

/// The files and the manifest file of a claimed operation in a folder.
///
/// The manifest file has the fencing token of the claim in its name, and is replaced as a whole.
final class FolderSink: OperationSink {
    private let storage: FolderStorage
    private let folder: OpenFolder
    private let held: HeldOperation
    private let worker: String
    let past: [[UInt8]?]
    /// Fencing tokens of manifest files that are higher than the token of this claim. Redis lost these claims when it lost
    /// its latest changes.
    private let forgotten: [Int]
    /// Whether ``past`` has no lines because the folder could not be read.
    private let isPastUnread: Bool

    init(
        _ storage: FolderStorage, _ folder: OpenFolder, _ held: HeldOperation, worker: String, past: PastLines
    ) {
        self.storage = storage
        self.folder = folder
        self.held = held
        self.worker = worker
        self.past = past.lines
        forgotten = past.forgotten
        isPastUnread = past.isUnread
    }

    func write(
        _ files: [MadeFile], of record: PhotoRecord, attempt: Int, isWanted: () -> Bool
    ) throws(StorageFault) -> [ManifestLine.File]? {
        let paths = zip(storage.files.kinds, files).map { storage.files.path(of: record, $0, ending: $1.ending) }
        let name = TemporaryName.of(
            TemporaryName.photo(record.index, of: held.batch), fencingToken: held.fencingToken,
            writer: "\(worker).\(attempt)")
        let written = zip(paths, files).map { AtomicFiles.File($1, path: $0) }
        guard try AtomicFiles.write(written, in: storage.place, temporaryName: name, isWanted: isWanted) else {
            return nil
        }
        return storage.files.described(files) { (paths[$0], files[$0].digest) }
    }

    func write(_ lines: [[UInt8]?]) throws(StorageFault) {
        let text = Array(lines.compactMap { $0 }.joined())
        guard !text.isEmpty else { return }
        let name = ManifestPath.fileName(operation: held.number, fencingToken: held.fencingToken)
        try AtomicFiles.write(
            text, to: Path.joined(storage.manifestFolder(of: held), name), in: storage.manifestPlace,
            temporaryName: TemporaryName.of(
                TemporaryName.manifest(operation: held.number), fencingToken: held.fencingToken, writer: worker))
    }

    var barriers: [StorageBarrier] {
        folder.parts.map { [storage, folder] device, part in
            let domain = StorageDomain(device: device)
            return StorageBarrier(domain: domain, opened: folder.opened) { () throws(StorageFault) in
                try storage.makeDurable(part, domain)
            }
        }
    }

    func loss() -> StorageFault? {
        guard !folder.isStillThere else { return nil }
        let check = FolderCheck(place: storage.place, folder: "")
        return check.fault(room: 0)
            ?? StorageFault(
                .file, detail: "something else is mounted at \(storage.place.markerPath) than before", check: check)
    }

    /// Removes the manifest files of other claims whose fencing token is lower than the token of this claim, or is in
    /// ``forgotten``. Does nothing if the file of this claim is missing, or if it lacks lines of the other files.
    func removeOthers() {
        guard !isPastUnread, let folder = manifestFolder else { return }
        let tokens = ManifestPath.fencingTokens(ofOperation: held.number, in: folder)
        guard tokens.contains(held.fencingToken) else { return }
        for token in tokens where token < held.fencingToken || forgotten.contains(token) {
            remove(fencingToken: token, in: folder)
        }
    }

    func discard() {
        guard let folder = manifestFolder else { return }
        remove(fencingToken: held.fencingToken, in: folder)
    }

    private func remove(fencingToken: Int, in folder: Folder) {
        try? folder.remove(ManifestPath.fileName(operation: held.number, fencingToken: fencingToken))
    }

    /// The folder of the operation's manifest files; nil if it does not exist.
    private var manifestFolder: Folder? {
        try? storage.manifestPlace.open().folder(storage.manifestFolder(of: held))
    }
}

extension MadeFile {
    /// The SHA-256 in hexadecimal.
    fileprivate var digest: String {
        var digest = ""
        // The bytes are in memory and were read before, so the closure is called.
        try? withBytes { digest = Hexadecimal.text(SHA256Digest.hash(of: $0)) }
        return digest
    }
}
