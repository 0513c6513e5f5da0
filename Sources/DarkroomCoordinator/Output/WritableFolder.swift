import DarkroomFiles
import DarkroomText
import Foundation

/// A folder that the coordinator makes for the workers, after it has seen that it can be written.
struct WritableFolder: Sendable {
    /// What messages call it: `output folder`.
    let role: String
    /// Its absolute path.
    let path: String

    /// Makes the folder, and those above it, where they are missing.
    func create() throws(CoordinatorError) { try make(path) }

    /// Writes, syncs and removes a file: some file systems tell only then that they are full.
    func tryWriting() throws(CoordinatorError) {
        let probe = path + "/.darkroom-probe-\(UInt32.random(in: 0...UInt32.max))"
        let descriptor = open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw cannotWrite(errno) }
        defer {
            close(descriptor)
            unlink(probe)
        }
        let bytes = [UInt8](repeating: 0, count: 4096)
        let written = write(descriptor, bytes, bytes.count)
        guard written == bytes.count else { throw cannotWrite(written < 0 ? errno : ENOSPC) }
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw cannotWrite(errno) }
    }

    private func cannotWrite(_ error: Int32) -> CoordinatorError {
        let found = systemErrorText(error)
        let advice =
            switch error {
            case ENOSPC, EDQUOT: "free some space, or choose another folder"
            default: "change its permissions, or choose another folder"
            }
        return CoordinatorError(.outputDenied, "\(role) \(path): it cannot be written: \(found); \(advice)")
    }

    /// Makes a folder and those above it.
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
            "\(role) \(path): \(folder) cannot be made: \(found); "
                + (error == EACCES ? "change its permissions, or " : "") + "choose another folder"
        )
    }
}
