import Darkroom
import DarkroomFiles
import Foundation

/// The folder in which `darkroom serve` keeps thumbnails and lists. Only one process at a time can use it.
final class ServerFolder {
    let path: String
    private let lock: Int32

    /// Creates the folder if it is missing.
    /// - Parameter path: nil for the standard folder of this user.
    init(_ path: String?) throws {
        let path = absolutePath(path ?? Self.standard)
        self.path = path
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let folder = try Folder(trusted: path)
            try folder.requirePrivate()
            lock = try folder.open("lock", O_WRONLY | O_CREAT | O_NOFOLLOW, mode: 0o600)
        } catch {
            throw CommandError("--cache \(path): \((error as? SystemFailure)?.text ?? systemReason(error))")
        }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw CommandError(
                "--cache \(path): another \"darkroom serve\" uses this folder; give this one another folder")
        }
    }

    deinit { close(lock) }

    private static var standard: String {
        let environment = ProcessInfo.processInfo.environment
        let caches = environment["XDG_CACHE_HOME"].flatMap { Path.isAbsolute($0) ? $0 : nil }
        return (caches ?? NSHomeDirectory() + "/.cache") + "/darkroom/serve"
    }
}
