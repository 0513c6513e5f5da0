import DarkroomFiles
import DarkroomModel
import Glibc

/// The output folder of a batch, and the folder `manifest/<batch id>/` in it. A worker that finds the manifest folder
/// has mounted the right output folder.
///
/// Unless the batch has the option `remoteOutput`, only the coordinator creates these folders, so that a worker that
/// has not mounted the shared folder writes nothing.
package struct OutputFolder: StoragePlace {
    /// The absolute path of the folder.
    package let path: String

    package init(path: String) { self.path = path }

    // MARK: Locations

    package static let beginning = "/"
    private static let role = "output folder"

    package init(location: String) { self.init(path: location) }

    package static func canonical(_ location: String) throws(StorageError) -> String {
        guard Path.isAbsolute(location), !Path.climbs(location), !location.utf8.contains(0) else {
            throw StorageError(.denied, "the path must be absolute, without \"..\"")
        }
        return "/" + Path.components(of: location).joined(separator: "/")
    }

    package var location: String { path }
    package var title: String { "\(Self.role) \(path)" }

    package func isIn(_ location: String) -> Bool { Folder.part(of: path, below: location) != nil }

    package func hangDomain(_ links: [String: String]) -> String {
        for (link, real) in links {
            guard let part = Folder.part(of: path, below: link) else { continue }
            return "the file system at \(MountPoint.of(Path.joined(real, part)))"
        }
        return "the file system at \(MountPoint.of(path))"
    }

    // MARK: Submitting

    private var folder: WritableFolder { WritableFolder(role: Self.role, path: path) }

    package func batches() throws(StorageError) -> [BatchID] {
        do throws(SystemFailure) {
            return try Folder(trusted: path).folder("manifest").names().compactMap { BatchID($0) }.sorted()
        } catch {
            if error.error == ENOENT || error.error == ENOTDIR { return [] }
            throw StorageError(
                .denied, "output folder \(path): its folder manifest cannot be read: \(error.text)")
        }
    }

    package func examine(renditions: [String]) throws(StorageError) -> Bool {
        guard try folder.examine() else { return false }
        try check(renditions)
        return true
    }

    /// Throws if a file or a link has the name of a rendition's folder.
    private func check(_ renditions: [String]) throws(StorageError) {
        // If the output folder is unreadable, the other checks report it.
        guard let folder = try? Folder(trusted: path) else { return }
        for name in renditions {
            // A name that does not exist, or whose status is unreadable, is not a conflict: workers create the folder,
            // or fail the photo with the error of the system.
            guard let status = try? folder.status(of: name), status.st_mode & S_IFMT != S_IFDIR else { continue }
            throw StorageError(
                .denied,
                "output folder \(path): \(name) in it is not a folder, so the rendition \(name) cannot be written; choose "
                    + "another folder, or another name for the rendition")
        }
    }

    /// True if the manifest of a batch is missing or empty, which means that no photo of the batch was written. False
    /// if the manifest cannot be read.
    package func isUntouched(by batch: BatchID) -> Bool {
        do throws(SystemFailure) {
            let names = try Folder(trusted: path).folder(ManifestPath.folder(batch)).names()
            return names.allSatisfy { $0 == ManifestPath.origin }
        } catch {
            return error.error == ENOENT || error.error == ENOTDIR
        }
    }

    package func origin(of batch: BatchID) -> Int? {
        let path = ManifestPath.folder(batch) + "/" + ManifestPath.origin
        // If the file cannot be read, the batch counts as a batch of another Redis server, and the folder is not taken.
        guard let text = try? Folder(trusted: self.path).contents(of: path, maxBytes: 100) else { return nil }
        return Int(String(decoding: text, as: UTF8.self).prefix { $0 != "\n" })
    }

    package var holder: (batch: BatchID, taken: Int)? {
        guard let folder = try? Folder(trusted: path),
            let found = try? FolderHolder.read(ManifestPath.holder, in: folder), let batch = BatchID(found.owner),
            (try? folder.status(of: ManifestPath.folder(batch))) != nil
        else { return nil }
        return (batch, found.number)
    }

    package var lastTaken: Int {
        // If the number cannot be read, 0 is nearly always sufficient, because Redis takes the next number from its
        // clock. If the next number is too small, workers refuse the batch and report which batch holds the folder.
        guard let folder = try? Folder(trusted: path) else { return 0 }
        let number = (try? FolderHolder.read(ManifestPath.holder, in: folder))?.number ?? 0
        // Anyone who may write to the folder may have written the number. The limit keeps the next numbers of Redis valid.
        return min(number, FolderHolder.numbers.upperBound / 2)
    }

    /// Creates the folder and the folder of the batch's manifest. Writes a file to check that the folder is writable.
    package func reserve(for batch: BatchID, origin: Int?) throws(StorageError) {
        try folder.create()
        do throws(SystemFailure) {
            let manifest = try Folder(trusted: path).makeFolder(ManifestPath.folder(batch))
            if let origin { try manifest.replace(ManifestPath.origin, with: Array("\(origin)\n".utf8), mode: 0o644) }
        } catch {
            throw StorageError(
                .denied,
                "output folder \(path): \(ManifestPath.folder(batch)) cannot be created in it: \(error.text); choose another folder"
            )
        }
        do throws(StorageError) {
            try folder.tryWriting()
        } catch {
            withdraw(batch)
            throw error
        }
    }

    package func reserve(for batch: BatchID, origin: Int?, in trusted: String) throws(StorageError) {
        guard let part = Folder.part(of: path, below: trusted) else { return }
        do throws(SystemFailure) {
            let manifest = try Folder(trusted: trusted).makeFolderLikeParent(
                Path.joined(part, ManifestPath.folder(batch)))
            if let origin { try manifest.replace(ManifestPath.origin, with: Array("\(origin)\n".utf8), mode: 0o644) }
        } catch {
            throw StorageError(.denied, error.text)
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

    // MARK: Working and reading

    package func storage(
        of files: BatchFiles, taken: Int, _ rules: StorageRules, willAccess: (_ location: String) -> Void
    ) throws(Refusal) -> any BatchStorage {
        let place = try OutputPlace(
            path, role: "output", marker: ManifestPath.folder(files.batch),
            holder: FolderHolder(owner: files.batch.description, number: taken), rules)
        try place.prepare(role: Self.role, rules, willAccess: willAccess)
        return FolderStorage(files, in: place, rules.folders)
    }

    package func manifestLocation(of batch: BatchID) -> String { path + "/" + ManifestPath.folder(batch) }

    package var results: any StoredResults { FolderResults(root: path, path: "") }

    package func results(in trusted: TrustedPlaces) -> (any StoredResults)? {
        trusted.folder(containing: path).map { FolderResults(root: $0.root, path: $0.part) }
    }
}
