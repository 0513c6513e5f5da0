import DarkroomFiles
import Foundation

/// A temporary folder of a `darkroom run`, for the socket of its private Redis or for thumbnails. The output folder
/// cannot contain the socket, because the path of an output folder may be too long for a socket address.
///
/// DESIGN. The process holds a lock (flock(2)) on the folder as long as this object exists. If the process is killed, the
/// system releases the lock, and the next run removes the folder. A new folder has no lock yet, so another run may
/// remove it. Therefore a process that has created and locked a folder checks that the folder still exists, and
/// otherwise creates another folder.
final class SocketFolder: Sendable {
    static let prefix = "darkroom-run-"

    let path: String
    /// The open folder; its descriptor holds the lock.
    private let folder: Folder

    private init(_ path: String, _ folder: Folder) {
        self.path = path
        self.folder = folder
    }

    /// The possible parent folders, the preferred folder first.
    static func parents(
        environment: [String: String] = ProcessInfo.processInfo.environment, temporary: String = "/tmp"
    ) -> [String] {
        [environment["XDG_RUNTIME_DIR"] ?? "", temporary].filter(Path.isAbsolute)
    }

    /// Creates a new folder with mode 0700.
    /// - Returns: nil on failure, with the error in `errno`.
    static func make(in parent: String) -> SocketFolder? {
        for _ in 0..<mostAttempts {
            // mkdtemp(3) replaces the Xs. The process id is for people who look at the folder.
            var template = Array("\(parent)/\(prefix)\(getpid())-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { return nil }
            let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
            do {
                let folder = try Folder(trusted: path)
                // If the file system does not support locks, other runs cannot lock the folder either, and do not
                // remove it.
                while flock(folder.descriptor, LOCK_EX) != 0, errno == EINTR {}
                if try Folder(trusted: parent).isFolder(folder, at: Path.split(path).name) {
                    return SocketFolder(path, folder)
                }
                errno = ENOENT
            } catch {
                errno = error.error
                guard error.error == ENOENT else { return nil }
            }
        }
        return nil
    }

    /// The maximum number of new folders. Another run may remove a new folder before this process has locked it.
    private static let mostAttempts = 10

    /// Removes the folders of killed runs of this user. Errors are ignored: a folder that cannot be read or removed
    /// does no harm, and the next run tries again.
    static func removeAbandoned(in parents: [String] = parents() + [NSTemporaryDirectory()]) {
        for parent in parents {
            guard let parent = try? Folder(trusted: parent), let names = try? parent.names() else { continue }
            for name in names where isName(name) { removeIfAbandoned(name, in: parent) }
        }
    }

    /// Whether ``make(in:)`` creates folders with such a name.
    private static func isName(_ name: String) -> Bool {
        name.wholeMatch(of: #/darkroom-run-[0-9]+-[A-Za-z0-9]{6}/#) != nil
    }

    private static func removeIfAbandoned(_ name: String, in parent: Folder) {
        // Does not follow a link. Skips a folder that another run has locked to remove it.
        guard let folder = try? parent.folder(name), (try? folder.requirePrivate()) != nil,
            flock(folder.descriptor, LOCK_EX | LOCK_NB) == 0, (try? parent.isFolder(folder, at: name)) == true
        else { return }
        try? parent.removeTree(name)
    }
}

extension Folder {
    /// Whether `folder` is the subfolder with this name.
    fileprivate func isFolder(_ folder: Folder, at name: String) throws(SystemFailure) -> Bool {
        guard let found = try status(of: name) else { return false }
        let status = try folder.status()
        return found.st_dev == status.st_dev && found.st_ino == status.st_ino
    }
}
