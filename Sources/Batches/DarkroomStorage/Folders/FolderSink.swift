import DarkroomCoding
import DarkroomFiles
import DarkroomModel
import Foundation

/// The files and the manifest file of a claimed operation in a folder.
///
/// The manifest file has the fencing token of the claim in its name, and is replaced as a whole.
final class FolderSink: OperationSink {
    private let place: HeldFolder
    private let held: HeldOperation
    private let worker: String
    private let earlier: PastLines

    init(_ place: HeldFolder, _ held: HeldOperation, worker: String, past: PastLines) {
        self.place = place
        self.held = held
        self.worker = worker
        earlier = past
    }

    var past: [[UInt8]?] { earlier.lines }
    var storage: any HeldStorage { place }
    private var batch: FolderStorage { place.storage }

    func write(
        _ files: [MadeFile], of record: PhotoRecord, attempt: Int, isWanted: () -> Bool
    ) throws(StorageFault) -> [ManifestLine.File]? {
        let paths = zip(batch.files.kinds, files).map { batch.files.path(of: record, $0, ending: $1.ending) }
        let name = TemporaryName.of(
            TemporaryName.photo(record.index, of: held.batch), fencingToken: held.fencingToken,
            writer: "\(worker).\(attempt)")
        let written = zip(paths, files).map { AtomicFiles.File($1, path: $0) }
        guard try AtomicFiles.write(written, in: batch.place, temporaryName: name, isWanted: isWanted) else {
            return nil
        }
        return batch.files.described(files) { (paths[$0], files[$0].digest) }
    }

    func write(_ lines: [[UInt8]?]) throws(StorageFault) {
        let text = Array(lines.compactMap { $0 }.joined())
        guard !text.isEmpty else { return }
        let name = ManifestPath.fileName(operation: held.number, fencingToken: held.fencingToken)
        try AtomicFiles.write(
            text, to: Path.joined(batch.manifestFolder(of: held), name), in: batch.manifestPlace,
            temporaryName: TemporaryName.of(
                TemporaryName.manifest(operation: held.number), fencingToken: held.fencingToken, writer: worker))
    }

    var barriers: [StorageBarrier] {
        place.folder.parts.map { [batch, opened = place.folder.opened] device, part in
            let domain = StorageDomain(device: device)
            return StorageBarrier(domain: domain, opened: opened) { () throws(StorageFault) in
                try batch.makeDurable(part, domain)
            }
        }
    }

    func loss() -> StorageFault? {
        guard !place.folder.isStillThere else { return nil }
        let check = FolderCheck(place: batch.place, folder: "")
        return check.fault(room: 0)
            ?? StorageFault(
                .file, .folderMissing, detail: "something else is mounted at \(batch.place.markerPath) than before",
                check: check)
    }

    func removeOthers() {
        guard let folder = manifestFolder else { return }
        let tokens = ManifestPath.fencingTokens(ofOperation: held.number, in: folder)
        for token in earlier.obsolete(tokens) { remove(fencingToken: token, in: folder) }
    }

    func discard() {
        guard let folder = manifestFolder else { return }
        remove(fencingToken: held.fencingToken, in: folder)
    }

    /// Removes a manifest file. An error is ignored, since readers use the lines with the highest fencing token.
    private func remove(fencingToken: Int, in folder: Folder) {
        try? folder.remove(ManifestPath.fileName(operation: held.number, fencingToken: fencingToken))
    }

    /// The folder of the operation's manifest files; nil if it does not exist or cannot be opened. If the folder cannot
    /// be opened, its files stay, which does no harm.
    private var manifestFolder: Folder? {
        try? batch.manifestPlace.open().folder(batch.manifestFolder(of: held))
    }
}

extension MadeFile {
    /// The SHA-256 in hexadecimal.
    fileprivate var digest: String {
        var digest = ""
        // `withBytes` throws only the errors of its argument, and this argument throws none.
        try? withBytes { digest = Hexadecimal.text(SHA256Digest.hash(of: $0)) }
        return digest
    }
}
