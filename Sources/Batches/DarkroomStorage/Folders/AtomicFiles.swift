import DarkroomFiles
import DarkroomModel
import Foundation

/// Writes files under a temporary name and renames them, so that every file with a final name is complete.
package enum AtomicFiles {
    /// A file to write.
    package struct File {
        /// The path relative to the output folder.
        let path: String
        let content: MadeFile

        package init(_ content: MadeFile, path: String) {
            self.path = path
            self.content = content
        }

        fileprivate var folder: String { Path.split(path).folder ?? "" }
    }

    /// Writes the files of a photo to `place`. Creates missing subfolders, and replaces existing files.
    ///
    /// The files get their final names when all of them are complete. Each file must be in a different folder. A file
    /// that has its final name is never removed, because it may be the file of another worker: if a later rename fails,
    /// the earlier files stay, and are replaced when the photo is developed again.
    /// - Parameters:
    ///   - temporaryName: the name of the temporary files; hidden, and unique in each folder among all workers.
    ///   - isDurable: whether the bytes are on the disk before a file gets its final name. If false, a power failure
    ///     can leave an empty file with the final name, unless the caller syncs the file system.
    ///   - isWanted: called directly before the files get their final names; if it returns false, the files are
    ///     removed.
    /// - Returns: false if `isWanted` returned false.
    package static func write(
        _ files: [File], in place: OutputPlace, temporaryName: String, isDurable: Bool = false,
        isWanted: () -> Bool = { true }
    ) throws(StorageFault) -> Bool {
        var temporaries: [String] = []
        var current = files.first?.path ?? ""
        func fault(_ failure: SystemFailure) -> StorageFault {
            place.fault(writing: current, byteCount: files.reduce(0) { $0 + $1.content.byteCount }, failure)
        }
        let root: Folder
        do throws(SystemFailure) { root = try place.open() } catch { throw fault(error) }
        do throws(SystemFailure) {
            for file in files {
                current = file.path
                let temporary = Path.joined(file.folder, temporaryName)
                let descriptor = try create(temporary, in: root, file.folder)
                temporaries.append(temporary)
                try file.content.withBytes { bytes throws(SystemFailure) in
                    try fill(descriptor, with: bytes, time: file.content.time, isDurable: isDurable)
                }
            }
            if isWanted() {
                try place.whileHolding(root) { () throws(SystemFailure) in
                    // The usual reason why a rename fails is found before the first rename.
                    for file in files {
                        current = file.path
                        guard let found = try root.status(of: file.path), found.st_mode & S_IFMT == S_IFDIR else {
                            continue
                        }
                        throw SystemFailure("rename", EISDIR)
                    }
                    for (temporary, file) in zip(temporaries, files) {
                        current = file.path
                        try root.rename(temporary, to: file.path)
                    }
                }
                return true
            }
        } catch {
            var remains: String?
            for temporary in temporaries {
                do throws(SystemFailure) {
                    try root.remove(temporary)
                } catch {
                    // Without a temporary file, the file already had its final name.
                    if error.error != ENOENT { remains = temporary }
                }
            }
            var fault = fault(error)
            fault.remains = remains
            throw fault
        }
        // If the removal fails, the next worker that claims the operation removes the file.
        for temporary in temporaries { try? root.remove(temporary) }
        return false
    }

    /// Writes `bytes` to `path` in `place`, unconditionally.
    package static func write(
        _ bytes: [UInt8], to path: String, in place: OutputPlace, temporaryName: String, time: FileTime? = nil,
        isDurable: Bool = false
    ) throws(StorageFault) {
        _ = try write(
            [File(MadeFile(bytes, ending: "", time: time), path: path)], in: place, temporaryName: temporaryName,
            isDurable: isDurable)
    }

    private static func create(
        _ temporary: String, in root: Folder, _ folder: String
    ) throws(SystemFailure) -> Int32 {
        do throws(SystemFailure) {
            return try root.create(temporary)
        } catch {
            guard error.error == ENOENT, !folder.isEmpty else { throw error }
            _ = try root.makeFolder(folder, mode: 0o755)
            return try root.create(temporary)
        }
    }
}
