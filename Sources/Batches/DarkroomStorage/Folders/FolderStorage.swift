import DarkroomConcurrency
import DarkroomFiles
import DarkroomModel
import DarkroomText
import Foundation

/// The storage of a batch in a folder that all workers see.
final class FolderStorage: BatchStorage {
    let files: BatchFiles
    let place: OutputPlace
    private let rules: FolderRules
    /// The open folder that the operations share. The folder is closed when the last operation has ended, so that its
    /// file system can be unmounted.
    private let latest = Locked(WeakFolder())

    private struct WeakFolder {
        weak var held: HeldFolder?
    }

    init(_ files: BatchFiles, in place: OutputPlace, _ rules: FolderRules) {
        self.files = files
        self.place = place
        self.rules = rules
    }

    var isKept: Bool { true }

    func take() throws(Refusal) -> any HeldStorage {
        do throws(SystemFailure) {
            let root = try place.open()
            try hold(root)
            let latest = latest.withLock { $0.held }
            if let latest, latest.folder.isStillThere, latest.folder.isWritable { return latest }
            let folder = try OpenFolder(place, renditions: files.kinds.map(\.rendition).filter { !$0.isEmpty })
            guard folder.isWritable else { throw SystemFailure("write to", errno) }
            let held = HeldFolder(self, folder)
            self.latest.withLock { $0.held = held }
            return held
        } catch {
            throw Refusal(
                error.refusalCode,
                "its output folder cannot be used: "
                    + (place.detail(of: error) ?? "\(error.attempted) \(place.markerPath): \(error.text)"))
        }
    }

    /// Takes the folder for the batch. A full disk is not an error here, because the next claim tries to take the folder
    /// again.
    private func hold(_ root: Folder) throws(SystemFailure) {
        do throws(SystemFailure) {
            if let other = try place.holder?.take(ManifestPath.holder, in: root, patience: rules.holderPatience) {
                throw SystemFailure(takenBy: other.owner)
            }
        } catch {
            guard error.error == ENOSPC || error.error == EDQUOT else { throw error }
        }
    }

    func removeRemains(of held: HeldOperation, _ records: [PhotoRecord]) {
        guard held.fencingToken < .max else { return }
        removeTemporaries(of: held, records, below: held.fencingToken + 1)
    }

    /// Removes the temporary files of workers that held the operation with fencing tokens below `token`.
    func removeTemporaries(of held: HeldOperation, _ records: [PhotoRecord], below token: Int) {
        // If the folder cannot be opened, its temporary files stay, which does no harm.
        guard let root = try? manifestPlace.open() else { return }
        let photos = Set(records.map { TemporaryName.photo($0.index, of: held.batch) })
        for folder in files.folders(of: records) { TemporaryName.remove(photos, below: token, in: folder, root) }
        TemporaryName.remove(
            [TemporaryName.manifest(operation: held.number)], below: token, in: manifestFolder(of: held), root)
    }

    /// The output folder, to which the batch may write its manifest even if another batch has taken the folder.
    var manifestPlace: OutputPlace {
        OutputPlace(folder: place.folder, trusted: place.trusted, marker: place.marker)
    }

    /// The folder of an operation's manifest files, relative to the output folder.
    func manifestFolder(of held: HeldOperation) -> String {
        let subfolder = ManifestPath.subfolder(operation: held.number)
        return ManifestPath.folder(held.batch) + (subfolder.isEmpty ? "" : "/" + subfolder.dropLast())
    }

    func makeDurable(_ folder: Folder, _ domain: StorageDomain) throws(StorageFault) {
        let error = rules.syncFileSystem(folder.descriptor)
        guard error != 0 else { return }
        throw StorageFault(
            .domain(domain), error == ENOSPC || error == EDQUOT ? .diskFull : .other,
            detail: "make \(place.folder) durable: \(systemErrorText(error))", room: FolderCheck.leastRoom,
            check: FolderCheck(place: place, folder: ""))
    }
}

/// A folder that the batch holds.
final class HeldFolder: HeldStorage {
    let storage: FolderStorage
    let folder: OpenFolder

    init(_ storage: FolderStorage, _ folder: OpenFolder) {
        self.storage = storage
        self.folder = folder
    }

    var domains: Set<StorageDomain> { Set(folder.parts.map { StorageDomain(device: $0.device) }) }

    func begin(
        _ claimed: ClaimedOperation, _ records: [PhotoRecord], worker: String
    ) throws(StorageFault) -> any OperationSink {
        let held = claimed.held
        let past = try PastLines(claimed, records, storage.files) { () throws(StorageFault) in
            try FolderPast(held, storage)
        }
        if claimed.leaseExpiries > 0 { storage.removeTemporaries(of: held, records, below: held.fencingToken) }
        return FolderSink(self, held, worker: worker, past: past)
    }
}

extension StorageDomain {
    /// The file system of a device number.
    package init(device: dev_t) { self.init("device \(device)") }

    /// The file system of a path; nil if the path cannot be read.
    package init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(device: status.st_dev)
    }
}
