import DarkroomFiles
import DarkroomText
import Foundation

/// A folder that the coordinator creates for workers. The coordinator checks that files can be written to it.
struct WritableFolder: Sendable {
    /// The name of the folder's role in messages, for example `output folder`.
    let role: String
    /// The absolute path of the folder.
    let path: String

    /// Creates the folder and its parents if they are missing.
    func create() throws(CoordinatorError) { try make(path) }

    /// Writes a file and removes it again.
    func tryWriting() throws(CoordinatorError) {
        do throws(SystemFailure) {
            try Folder(trusted: path).tryWriting(4096)
        } catch {
            let advice = [ENOSPC, EDQUOT].contains(error.error) ? "free some space" : "change its permissions"
            throw CoordinatorError(
                .outputDenied,
                "\(role) \(path): it cannot be written: \(error.text); \(advice), or choose another folder")
        }
    }

    private func make(_ folder: String) throws(CoordinatorError) {
        guard mkdir(folder, 0o777) != 0 else { return }
        if errno == ENOENT, let above = Path.split(folder).folder, !above.isEmpty {
            try make(above)
            if mkdir(folder, 0o777) == 0 { return }
        }
        let error = errno
        var information = stat()
        if stat(folder, &information) == 0, information.st_mode & S_IFMT == S_IFDIR { return }
        let found = error == EEXIST ? "it is a file" : systemErrorText(error)
        throw CoordinatorError(
            .outputDenied,
            "\(role) \(path): \(folder) cannot be created: \(found); "
                + (error == EACCES ? "change its permissions, or " : "") + "choose another folder"
        )
    }
}
