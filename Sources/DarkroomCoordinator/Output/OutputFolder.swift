import DarkroomFiles
import DarkroomModel
import Glibc

/// The output folder of a batch and its `manifest/<batch id>/`. Workers check that the latter exists, which shows that they
/// have mounted the same folder.
///
/// Only the coordinator creates both, so that a machine without the shared folder writes nothing.
package struct OutputFolder: Sendable {
    /// The folder's absolute path.
    package let path: String

    package init(path: String) { self.path = path }

    private var folder: WritableFolder { WritableFolder(role: "output folder", path: path) }

    /// The batches that have a manifest here, sorted by id.
    package func batches() throws(CoordinatorError) -> [BatchID] {
        do throws(SystemFailure) {
            return try Folder(trusted: path).folder("manifest").names().compactMap { BatchID($0) }.sorted()
        } catch {
            if error.error == ENOENT || error.error == ENOTDIR { return [] }
            throw CoordinatorError(
                .outputDenied, "output folder \(path): its folder manifest cannot be read: \(error.text)")
        }
    }

    /// Creates the folder and its parents if they are missing.
    package func create() throws(CoordinatorError) { try folder.create() }

    /// True if a batch has no manifest here or an empty one, so that none of its photos was written. An unreadable manifest
    /// counts as one with photos.
    package func isUntouched(by batch: BatchID) -> Bool {
        do throws(SystemFailure) {
            let names = try Folder(trusted: path).folder(ManifestPath.folder(batch)).names()
            return names.allSatisfy { $0 == ManifestPath.origin }
        } catch {
            return error.error == ENOENT || error.error == ENOTDIR
        }
    }

    /// The id of the Redis that a batch was submitted to, see `BatchStore.identify()`; nil if its manifest has no id.
    func origin(of batch: BatchID) -> Int? {
        let path = ManifestPath.folder(batch) + "/" + ManifestPath.origin
        // If the file is unreadable, the folder counts as that of another Redis and is not taken.
        guard let text = try? Folder(trusted: self.path).contents(of: path, maxBytes: 100) else { return nil }
        return Int(String(decoding: text, as: UTF8.self).prefix { $0 != "\n" })
    }

    /// The batch that took the folder last, and its number (see `BatchFacts.outputTaken`); nil if no batch has taken the folder,
    /// or if the manifest of the batch is gone.
    package var holder: (batch: BatchID, taken: Int)? {
        guard let folder = try? Folder(trusted: path),
            let found = try? FolderHolder.read(ManifestPath.holder, in: folder), let batch = BatchID(found.owner),
            (try? folder.status(of: ManifestPath.folder(batch))) != nil
        else { return nil }
        return (batch, found.number)
    }

    /// The number with which the folder was taken last, also by a batch whose manifest is gone; 0 if none is found. The batch
    /// with the largest number has the folder.
    var lastTaken: Int {
        // If the number is unreadable, the number from Redis is larger in nearly all cases, since Redis uses its clock.
        // Otherwise, workers refuse the batch and report which batch has the folder.
        guard let folder = try? Folder(trusted: path) else { return 0 }
        return (try? FolderHolder.read(ManifestPath.holder, in: folder))?.number ?? 0
    }

    /// The batch that has taken the folder after `batch`, read from the folder. Redis may have forgotten that batch.
    func taker(since batch: BatchFacts) -> BatchID? {
        guard let holder, holder.batch != batch.id, holder.taken >= batch.outputTaken else { return nil }
        return holder.batch
    }

    /// Throws if another batch than `batch` has a manifest here.
    /// - Parameters:
    ///   - batch: the batch that may have a manifest here; nil for none.
    ///   - origin: the id of the Redis that `isGone` reads, see `BatchStore.identify()`; nil for none.
    ///   - isGone: whether a batch is not in that Redis. If a batch was submitted to that Redis and is gone, its manifest is
    ///     empty, and no worker took the folder for it, the manifest is left from a killed submission and is ignored.
    package func checkFree(
        for batch: BatchID? = nil, origin: Int? = nil, isGone: (BatchID) -> Bool = { _ in false }
    ) throws(CoordinatorError) {
        let holder = holder?.batch
        func isLeft(_ other: BatchID) -> Bool {
            guard let origin, other != holder, isUntouched(by: other), self.origin(of: other) == origin else {
                return false
            }
            return isGone(other)
        }
        guard let other = try batches().last(where: { $0 != batch && !isLeft($0) }) else { return }
        throw CoordinatorError(
            .outputTaken,
            "output folder \(path): it has the photos of batch \(other) (its folder manifest/\(other)); choose another "
                + "folder, give --overwrite to overwrite them, or feed a list that has grown with: darkroom submit LIST "
                + "--resume \(other)")
    }

    /// Creates the folder and the batch's manifest folder, and writes a file to check that the folder can be written to.
    /// - Parameters:
    ///   - batch: the batch that writes to the folder.
    ///   - overwrite: take the folder even if it has the manifest of another batch.
    ///   - origin: the Redis of the batch, see ``checkFree(for:origin:isGone:)``.
    ///   - isGone: see ``checkFree(for:origin:isGone:)``.
    package func prepare(
        for batch: BatchID, overwrite: Bool, origin: Int? = nil, isGone: (BatchID) -> Bool = { _ in false }
    ) throws(CoordinatorError) {
        if !overwrite { try checkFree(for: batch, origin: origin, isGone: isGone) }
        try create()
        do throws(SystemFailure) {
            let manifest = try Folder(trusted: path).makeFolder(ManifestPath.folder(batch))
            if let origin { try manifest.replace(ManifestPath.origin, with: Array("\(origin)\n".utf8), mode: 0o644) }
        } catch {
            throw CoordinatorError(
                .outputDenied,
                "output folder \(path): \(ManifestPath.folder(batch)) cannot be created in it: \(error.text); choose another folder"
            )
        }
        do throws(CoordinatorError) {
            try folder.tryWriting()
        } catch {
            withdraw(batch)
            throw error
        }
    }

    /// Removes the folder of a batch's manifest with its files, and `manifest` itself if it is empty then.
    package func withdraw(_ batch: BatchID) {
        // A manifest that cannot be removed remains. The next batch with this output folder reports it.
        guard let folder = try? Folder(trusted: path) else { return }
        try? folder.removeTree(ManifestPath.folder(batch))
        if (try? batches())?.isEmpty == true { try? folder.remove(ManifestPath.holder) }
        try? folder.removeFolder("manifest")  // fails if the folder is not empty
    }
}
