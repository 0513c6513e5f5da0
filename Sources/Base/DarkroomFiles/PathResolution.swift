internal import CSystem
import Glibc

/// The method by which a path in a folder is opened. No method follows a symbolic link or leaves the folder.
enum PathResolution {
    /// Opens the whole path with openat2(2), available since Linux 5.6.
    case kernel
    /// Opens one component after the other, each relative to the folder that was opened before. Used on kernels and
    /// container runtimes without openat2.
    case stepwise

    /// `O_PATH`: with this flag, the folders of a path can be opened without read permission.
    static let pathOnly = csystem_path_only

    /// The method that this system supports.
    static let supported: PathResolution = {
        let descriptor = csystem_open_beneath(AT_FDCWD, ".", pathOnly | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return .stepwise }
        close(descriptor)
        return .kernel
    }()

    /// Opens the file or folder whose path in the folder `root` consists of `components`.
    /// - Parameter components: no component may be empty, `.` or `..`, or contain a slash.
    /// - Returns: a descriptor, or -1 with `errno`.
    func open(_ components: [[UInt8]], in root: Int32, _ flags: Int32, _ mode: mode_t) -> Int32 {
        guard let last = components.last else { return openat(root, ".", flags) }
        let flags = flags | O_CLOEXEC
        switch self {
        case .kernel:
            // With O_NOFOLLOW, a link in place of a folder would cause ENOTDIR instead of ELOOP.
            return Path.withCString(Array(components.joined(separator: [Path.slash]))) {
                csystem_open_beneath(root, $0, flags & ~O_NOFOLLOW, mode)
            }
        case .stepwise:
            var folder = root
            defer { if folder != root { Self.closeKeepingError(folder) } }
            for component in components.dropLast() {
                let next = Self.step(component, in: folder, Self.pathOnly | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
                guard next >= 0 else { return -1 }
                if folder != root { close(folder) }
                folder = next
            }
            return Self.step(last, in: folder, flags | O_NOFOLLOW, mode)
        }
    }

    private static func step(_ name: [UInt8], in folder: Int32, _ flags: Int32, _ mode: mode_t) -> Int32 {
        let descriptor = Path.withCString(name) { openat(folder, $0, flags, mode) }
        guard descriptor < 0, errno == ENOTDIR else { return descriptor }
        // If a link is in place of a folder, report ELOOP, like openat2.
        var status = stat()
        let isLink =
            Path.withCString(name) { fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) } == 0
            && status.st_mode & S_IFMT == S_IFLNK
        errno = isLink ? ELOOP : ENOTDIR
        return -1
    }

    private static func closeKeepingError(_ descriptor: Int32) {
        let error = errno
        close(descriptor)
        errno = error
    }
}
