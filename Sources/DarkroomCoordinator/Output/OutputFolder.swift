import DarkroomFiles
import DarkroomModel
import Glibc

/// The folder that a batch's photos are written to, and its `manifest/<batch id>/`, by whose presence workers know that
/// they see the same folder.
///
/// Both are made by the coordinator and by nobody else, so that a machine without the share writes nothing.
package struct OutputFolder: Sendable {
    /// The folder's absolute path.
    package let path: String

    /// A folder by its absolute path.
    package init(path: String) { self.path = path }

    private var folder: WritableFolder { WritableFolder(role: "output folder", path: path) }

    /// The batches that have a manifest here, in order.
    package func batches() throws(CoordinatorError) -> [BatchID] {
        do throws(SystemFailure) {
            return try Folder(trusted: path).folder("manifest").names().compactMap { BatchID($0) }.sorted()
        } catch {
            if error.error == ENOENT || error.error == ENOTDIR { return [] }
            throw CoordinatorError(
                .outputDenied, "output folder \(path): its folder manifest cannot be read: \(error.text)")
        }
    }

    /// Makes the folder, and those above it, where they are missing.
    package func create() throws(CoordinatorError) { try folder.create() }

    /// True when a batch has no manifest here, or an empty one: none of its photos was written. A manifest that cannot be read
    /// counts as one with photos.
    package func isUntouched(by batch: BatchID) -> Bool {
        do throws(SystemFailure) {
            let names = try Folder(trusted: path).folder(ManifestPath.folder(batch)).names()
            return names.allSatisfy { $0 == ManifestPath.origin }
        } catch {
            return error.error == ENOENT || error.error == ENOTDIR
        }
    }

    /// Which Redis a batch was submitted to, see `BatchStore.identify()`; nil when its manifest does not say so.
    func origin(of batch: BatchID) -> Int? {
        let path = ManifestPath.folder(batch) + "/" + ManifestPath.origin
        // A file that cannot be read names no Redis, so the folder counts as that of another Redis and is not taken.
        guard let text = try? Folder(trusted: self.path).contents(of: path, maxBytes: 100) else { return nil }
        return Int(String(decoding: text, as: UTF8.self).prefix { $0 != "\n" })
    }

    /// The batch that took the folder last, and the number of that (see `BatchFacts.outputTaken`); nil if no batch has taken
    /// it, or if the manifest of the batch is gone.
    package var holder: (batch: BatchID, taken: Int)? {
        guard let folder = try? Folder(trusted: path),
            let found = try? FolderHolder.read(ManifestPath.holder, in: folder), let batch = BatchID(found.owner),
            (try? folder.status(of: ManifestPath.folder(batch))) != nil
        else { return nil }
        return (batch, found.number)
    }

    /// The number with which the folder was taken last, also by a batch whose manifest is gone; 0 if none is found. Workers
    /// leave the folder to the largest number.
    var lastTaken: Int {
        // A number that cannot be read here is lower than what Redis gives in nearly all cases, since Redis goes by its clock.
        // Where it is not, workers refuse the batch and say which batch has the folder.
        guard let folder = try? Folder(trusted: path) else { return 0 }
        return (try? FolderHolder.read(ManifestPath.holder, in: folder))?.number ?? 0
    }

    /// The batch that has taken the folder after `batch`, read from the folder. Redis may have forgotten that batch.
    func taker(since batch: BatchFacts) -> BatchID? {
        guard let holder, holder.batch != batch.id, holder.taken >= batch.outputTaken else { return nil }
        return holder.batch
    }

    /// Throws when another batch than `batch` has a manifest here.
    /// - Parameters:
    ///   - batch: the batch that may have one; nil for none.
    ///   - origin: which Redis is asked, see `BatchStore.identify()`; nil for none.
    ///   - isGone: whether that Redis does not know a batch. A manifest of a batch that was submitted there, that is empty, and for
    ///     which no worker took the folder, remains of a submission that was killed. It does not keep other batches out.
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
                + "folder, say --overwrite to write over them, or go on with a list that has grown by: darkroom submit LIST "
                + "--resume \(other)")
    }

    /// Makes the folder and the batch's manifest folder, and writes a file to see that it can be written.
    /// - Parameters:
    ///   - batch: the batch that writes there.
    ///   - overwrite: take the folder also when it has the manifest of another batch.
    ///   - origin: the Redis that it is submitted to, see ``checkFree(for:origin:isGone:)``.
    ///   - isGone: see there.
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
                "output folder \(path): \(ManifestPath.folder(batch)) cannot be made in it: \(error.text); choose another folder"
            )
        }
        do throws(CoordinatorError) {
            try folder.tryWriting()
        } catch {
            withdraw(batch)
            throw error
        }
    }

    /// Removes the folder of a batch's manifest, with what it holds, and `manifest` itself if that leaves it empty.
    package func withdraw(_ batch: BatchID) {
        // A manifest that cannot be removed stays. The next batch that wants the folder reports it.
        guard let folder = try? Folder(trusted: path) else { return }
        try? folder.removeTree(ManifestPath.folder(batch))
        if (try? batches())?.isEmpty == true { try? folder.remove(ManifestPath.holder) }
        try? folder.removeFolder("manifest")  // fails, as it should, while there is something in it
    }
}
