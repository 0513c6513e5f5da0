import DarkroomFiles
import DarkroomModel
import Glibc

/// The output folder of a batch, and the folder `manifest/<batch id>/` in it. A worker that finds the manifest folder
/// has mounted the right output folder.
///
/// Unless the batch has the option `remoteOutput`, only the coordinator creates these folders, so that a worker that
/// has not mounted the shared folder writes nothing.
package struct OutputFolder: Sendable {
    /// The absolute path of the folder.
    package let path: String

    package init(path: String) { self.path = path }

    private var folder: WritableFolder { WritableFolder(role: "output folder", path: path) }

    /// The batches that have a manifest in the folder, sorted by id.
    package func batches() throws(CoordinatorError) -> [BatchID] {
        do throws(SystemFailure) {
            return try Folder(trusted: path).folder("manifest").names().compactMap { BatchID($0) }.sorted()
        } catch {
            if error.error == ENOENT || error.error == ENOTDIR { return [] }
            throw CoordinatorError(
                .outputDenied, "output folder \(path): its folder manifest cannot be read: \(error.text)")
        }
    }

    /// Whether the folder exists. Throws if it cannot be created or written, as far as this is known without writing.
    package func examine() throws(CoordinatorError) -> Bool { try folder.examine() }

    /// Throws if a file or a link has the name of a rendition's folder.
    package func checkRenditions(of options: BatchOptions) throws(CoordinatorError) {
        // If the output folder is missing or unreadable, the other checks report it.
        guard let folder = try? Folder(trusted: path) else { return }
        for name in options.renditions.map(\.name) {
            // A name that does not exist, or whose status is unreadable, is no conflict: workers create the folder, or
            // fail the photo with the error of the system.
            guard let status = try? folder.status(of: name), status.st_mode & S_IFMT != S_IFDIR else { continue }
            throw CoordinatorError(
                .outputDenied,
                "output folder \(path): \(name) in it is not a folder, so the rendition \(name) cannot be written; choose "
                    + "another folder, or another name for the rendition")
        }
    }

    /// Creates the folder and its parents if they are missing.
    package func create() throws(CoordinatorError) { try folder.create() }

    /// True if the manifest of a batch is missing or empty, which means that none of its photos was written. False if
    /// the manifest cannot be read.
    package func isUntouched(by batch: BatchID) -> Bool {
        do throws(SystemFailure) {
            let names = try Folder(trusted: path).folder(ManifestPath.folder(batch)).names()
            return names.allSatisfy { $0 == ManifestPath.origin }
        } catch {
            return error.error == ENOENT || error.error == ENOTDIR
        }
    }

    /// The id of the Redis data to which a batch belongs, see `BatchStore.identify()`; nil if the manifest has no id.
    func origin(of batch: BatchID) -> Int? {
        let path = ManifestPath.folder(batch) + "/" + ManifestPath.origin
        // If the file cannot be read, the batch counts as a batch of another Redis server, and the folder is not taken.
        guard let text = try? Folder(trusted: self.path).contents(of: path, maxBytes: 100) else { return nil }
        return Int(String(decoding: text, as: UTF8.self).prefix { $0 != "\n" })
    }

    /// The batch that took the folder last, and the number that it received then (see `BatchFacts.outputTaken`); nil if
    /// no batch has taken the folder, or if the manifest of that batch no longer exists.
    package var holder: (batch: BatchID, taken: Int)? {
        guard let folder = try? Folder(trusted: path),
            let found = try? FolderHolder.read(ManifestPath.holder, in: folder), let batch = BatchID(found.owner),
            (try? folder.status(of: ManifestPath.folder(batch))) != nil
        else { return nil }
        return (batch, found.number)
    }

    /// The number of the batch that took the folder last, even if its manifest no longer exists; 0 if no number is
    /// found. The batch with the largest number holds the folder.
    var lastTaken: Int {
        // If the number cannot be read, 0 is nearly always sufficient, because Redis takes the next number from its
        // clock. If the next number is too small, workers refuse the batch and report which batch holds the folder.
        guard let folder = try? Folder(trusted: path) else { return 0 }
        let number = (try? FolderHolder.read(ManifestPath.holder, in: folder))?.number ?? 0
        // Anyone who may write to the folder may have written the number. The limit keeps the next numbers of Redis valid.
        return min(number, FolderHolder.numbers.upperBound / 2)
    }

    /// The batch that took the folder after `batch`, even if Redis has forgotten it; nil if there is none.
    func taker(since batch: BatchFacts) -> BatchID? {
        guard let holder, holder.batch != batch.id, holder.taken >= batch.outputTaken else { return nil }
        return holder.batch
    }

    /// Throws if a batch other than `batch` has a manifest in the folder.
    /// - Parameters:
    ///   - batch: a batch that may have a manifest in the folder; nil for none.
    ///   - origin: the id of the Redis data that `isGone` reads, see `BatchStore.identify()`; nil for none.
    ///   - isGone: returns whether a batch is missing in these data. A manifest is ignored if a killed submission has
    ///     left it: the manifest is empty, its batch belongs to these data and is missing there, and no worker took the
    ///     folder for the batch.
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

    /// Creates the folder and the folder of the batch's manifest. Writes a file to check that the folder is writable.
    /// - Parameters:
    ///   - batch: the batch that writes to the folder.
    ///   - overwrite: whether the folder is taken even if it contains the manifest of another batch.
    ///   - origin: the id of the Redis data to which the batch belongs, see ``checkFree(for:origin:isGone:)``.
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

    /// Removes the folder of a batch's manifest with its files. Also removes the folder `manifest` if it is then empty.
    package func withdraw(_ batch: BatchID) {
        // Errors are ignored: if the manifest remains, the submission of the next batch to this output folder reports
        // it.
        guard let folder = try? Folder(trusted: path) else { return }
        try? folder.removeTree(ManifestPath.folder(batch))
        if (try? batches())?.isEmpty == true { try? folder.remove(ManifestPath.holder) }
        try? folder.removeFolder("manifest")  // fails if the folder is not empty
    }
}
