import DarkroomFiles
import DarkroomText
import Foundation

/// A folder that the coordinator creates for workers. The coordinator checks that files can be written to it.
package struct WritableFolder: Sendable {
    /// The name of the folder's role in messages, for example `output folder`.
    let role: String
    /// The absolute path of the folder.
    let path: String

    package init(role: String, path: String) {
        self.role = role
        self.path = path
    }

    /// Creates the folder and its parents if they are missing.
    package func create() throws(StorageError) { try make(path) }

    /// Whether the folder exists. Throws if the folder cannot be created or is not writable. The check writes nothing,
    /// so it cannot find every such folder.
    package func examine() throws(StorageError) -> Bool {
        var folder = path
        var information = stat()
        while stat(folder, &information) != 0 {
            let error = errno
            // If the folder is a symbolic link, the link leads to no file, and mkdir(2) fails.
            guard error == ENOENT, lstat(folder, &information) != 0, let above = Path.split(folder).folder else {
                throw failure(creating: folder, error == ENOENT ? EEXIST : error)
            }
            folder = above.isEmpty ? "/" : above
        }
        guard information.st_mode & S_IFMT == S_IFDIR else { throw failure(creating: folder, EEXIST) }
        guard access(folder, W_OK | X_OK) == 0 else {
            throw folder == path ? failure(writing: SystemFailure("write", errno)) : failure(creating: path, errno)
        }
        return folder == path
    }

    /// Writes a file and removes it again.
    package func tryWriting() throws(StorageError) {
        do throws(SystemFailure) {
            try Folder(trusted: path).tryWriting(4096)
        } catch {
            throw failure(writing: error)
        }
    }

    private func make(_ folder: String) throws(StorageError) {
        guard mkdir(folder, 0o777) != 0 else { return }
        if errno == ENOENT, let above = Path.split(folder).folder, !above.isEmpty {
            try make(above)
            if mkdir(folder, 0o777) == 0 { return }
        }
        let error = errno
        var information = stat()
        if stat(folder, &information) == 0, information.st_mode & S_IFMT == S_IFDIR { return }
        throw failure(creating: folder, error)
    }

    private func failure(writing failure: SystemFailure) -> StorageError {
        let advice = [ENOSPC, EDQUOT].contains(failure.error) ? "free some space" : "change its permissions"
        return StorageError(
            .denied,
            "\(role) \(path): it cannot be written: \(failure.text); \(advice), or choose another folder")
    }

    private func failure(creating folder: String, _ error: Int32) -> StorageError {
        let found = error == EEXIST ? "it is a file" : systemErrorText(error)
        return StorageError(
            .denied,
            "\(role) \(path): \(folder) cannot be created: \(found); "
                + (error == EACCES ? "change its permissions, or " : "") + "choose another folder"
        )
    }
}
