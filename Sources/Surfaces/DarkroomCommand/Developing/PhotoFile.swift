import Darkroom
import DarkroomFiles
import DarkroomText
import Foundation

/// Writes an output file of `develop` atomically. Replaces an existing file only with `--force`.
struct PhotoFile {
    let path: String
    let replaces: Bool

    /// Checks that the photo may be written to the path.
    ///
    /// Links, devices, pipes and folders are never replaced. A file with several hard links is not replaced either,
    /// since its other names would keep the old photo.
    /// - Returns: The status of the file that will be replaced; nil if no file exists.
    @discardableResult
    func check() throws(CommandError) -> stat? {
        var found = stat()
        guard lstat(path, &found) == 0 else {
            guard errno != ENOENT else { return nil }
            throw failure(systemErrorText())
        }
        switch found.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK: throw failure("it is a symbolic link; name the file that it leads to")
        case S_IFDIR: throw failure("it is a folder; to write photos into it, use -o \(ShellWord.quoted(path))")
        default: throw failure("it is not a regular file; - is standard output")
        }
        guard replaces else { throw failure("it is there already; --force replaces it") }
        guard found.st_nlink == 1 else {
            throw failure(
                "it has \(found.st_nlink) names (hard links), other names would keep the old photo; remove it first")
        }
        return found
    }

    /// Writes the file under a temporary name, and renames the complete file.
    /// - Parameter time: The time of the file; nil for the current time.
    func write(_ bytes: UnsafeRawBufferPointer, time: FileTime? = nil) throws(CommandError) {
        let replaced = try check()
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let temporary = "\(folder)/.darkroom-\(UUID().uuidString)"
        // Other users must not read the temporary file before it has the mode of the file that it replaces.
        let mode: mode_t = replaced == nil ? 0o666 : 0o600
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(systemErrorText()) }
        do throws(SystemFailure) {
            try fill(descriptor, with: bytes, time: time) { descriptor throws(SystemFailure) in
                guard let replaced else { return }
                // chown(2): only root may change the owner. If this process is not root's, its user owns the new file.
                let hasOwner = fchown(descriptor, replaced.st_uid, replaced.st_gid) == 0
                let hasGroup = hasOwner || fchown(descriptor, uid_t.max, replaced.st_gid) == 0
                let mode = Self.mode(replacing: replaced.st_mode, hasOwner: hasOwner, hasGroup: hasGroup)
                guard fchmod(descriptor, mode) == 0 else { throw SystemFailure("change", errno) }
            }
            let problem = replaced == nil ? Self.nameNew(temporary, path) : Self.rename(temporary, path)
            guard problem == 0 else { throw SystemFailure("rename", problem) }
        } catch {
            unlink(temporary)
            throw failure(
                error.error == EEXIST ? "it is there already; --force replaces it" : systemErrorText(error.error))
        }
    }

    /// The mode of the new file that replaces a file with the mode `replaced`.
    /// - Parameters:
    ///   - hasOwner: Whether the new file has the owner and group of the replaced file. If not, the set-user-ID,
    ///     set-group-ID and sticky bits are cleared.
    ///   - hasGroup: Whether the new file has the group of the replaced file. If not, the permissions of the group are
    ///     cleared.
    static func mode(replacing replaced: mode_t, hasOwner: Bool, hasGroup: Bool) -> mode_t {
        replaced & (hasOwner ? 0o7777 : hasGroup ? 0o777 : 0o707)
    }

    private static func rename(_ from: String, _ to: String) -> Int32 { Glibc.rename(from, to) == 0 ? 0 : errno }

    /// Renames a new file; fails with EEXIST if another program has created a file of that name. On file systems
    /// without hard links, first reserves the name: creates an empty file if no file has this name.
    private static func nameNew(_ from: String, _ to: String) -> Int32 {
        if link(from, to) == 0 { return unlink(from) == 0 ? 0 : errno }
        guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { return errno }
        let descriptor = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { return errno }
        close(descriptor)
        return rename(from, to)
    }

    private func failure(_ reason: String) -> CommandError { CommandError("write the photo \(path): \(reason)") }
}
