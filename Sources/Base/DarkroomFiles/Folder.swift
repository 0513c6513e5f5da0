import Glibc

/// An open folder, with functions that read and change the files in it and in its subfolders.
///
/// The paths that are passed to the functions are relative. Users who may write to the folder are not trusted.
/// Therefore a path through a symbolic link and a path with `..` are errors. Links are followed only in the path of the
/// folder itself, which comes from a trusted user.
package final class Folder: Sendable {
    /// The descriptor of the folder, which stays open as long as this object exists.
    package let descriptor: Int32
    let resolution: PathResolution

    /// Opens the folder at a trusted path. Follows symbolic links.
    /// - Throws: ``SystemFailure`` with the attempted action `open`.
    package convenience init(trusted path: String) throws(SystemFailure) {
        try self.init(trusted: path, .supported)
    }

    init(trusted path: String, _ resolution: PathResolution) throws(SystemFailure) {
        var descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // Without permission to list a folder, a process may still use the files in it.
        if descriptor < 0, errno == EACCES {
            descriptor = Glibc.open(path, PathResolution.pathOnly | O_DIRECTORY | O_CLOEXEC)
        }
        guard descriptor >= 0 else { throw SystemFailure("open", errno) }
        self.descriptor = descriptor
        self.resolution = resolution
    }

    private init(owning descriptor: Int32, _ resolution: PathResolution) {
        self.descriptor = descriptor
        self.resolution = resolution
    }

    deinit { close(descriptor) }

    /// Opens the file or folder at `path`. With `O_CREAT`, creates a missing file.
    /// - Parameters:
    ///   - path: The path relative to the folder; "" is the folder itself.
    ///   - flags: The flags of open(2). `O_CLOEXEC` is always added.
    /// - Returns: A descriptor, which the caller closes.
    package func open(
        _ path: String, _ flags: Int32, mode: mode_t = 0, attempted: String = "open"
    ) throws(SystemFailure) -> Int32 {
        try open(Array(path.utf8), flags, mode: mode, attempted: attempted)
    }

    /// Opens the file or folder at `path`, which need not be valid UTF-8.
    func open(
        _ path: [UInt8], _ flags: Int32, mode: mode_t = 0, attempted: String
    ) throws(SystemFailure) -> Int32 {
        let components = try Self.components(of: path, attempted)
        while true {
            let descriptor = resolution.open(components, in: self.descriptor, flags, mode)
            if descriptor >= 0 { return descriptor }
            guard errno == EINTR else { throw SystemFailure(attempted, errno) }
        }
    }

    package func folder(_ path: String) throws(SystemFailure) -> Folder {
        Folder(owning: try open(path, O_RDONLY | O_DIRECTORY), resolution)
    }

    /// Opens a folder whose path is relative to this one. Creates missing folders of the path.
    package func makeFolder(_ path: String, mode: mode_t = 0o777) throws(SystemFailure) -> Folder {
        var folder = self
        for component in try Self.components(of: path, "make") {
            guard mkdirat(folder.descriptor, component, mode) == 0 || errno == EEXIST else {
                throw SystemFailure("make", errno)
            }
            folder = try folder.folder(component)
        }
        return folder === self ? try self.folder("") : folder
    }

    /// The status of the folder, see stat(2).
    package func status() throws(SystemFailure) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemFailure("look at", errno) }
        return status
    }

    /// The status of the file at `path`, see stat(2); nil if the file does not exist. For a link, this is the status of
    /// the link itself.
    package func status(of path: String) throws(SystemFailure) -> stat? {
        do throws(SystemFailure) {
            return try inParent(of: path, "look at") { (folder, name) throws(SystemFailure) in
                var status = stat()
                guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                    throw SystemFailure("look at", errno)
                }
                return status
            }
        } catch {
            guard error.error == ENOENT else { throw error }
            return nil
        }
    }

    /// Throws if the user of this process does not own the folder, or if its mode allows access to other users.
    package func requirePrivate() throws(SystemFailure) {
        let status = try status()
        guard status.st_uid == geteuid() else {
            throw SystemFailure(
                "trust", EPERM, "it belongs to user \(status.st_uid), and this process runs as user \(geteuid())")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw SystemFailure(
                "trust", EPERM,
                "other users may use it (mode 0\(String(status.st_mode & 0o777, radix: 8))); its mode must be 0700")
        }
    }

    /// Opens the subfolder `name`. Creates a missing subfolder with mode 0700.
    /// - Throws: ``SystemFailure`` if another user owns the subfolder, or if its mode allows access to other users.
    package func makePrivateFolder(_ name: String) throws(SystemFailure) -> Folder {
        let folder = try makeFolder(name, mode: 0o700)
        try folder.requirePrivate()
        return folder
    }

    /// Calls `body` with the last component of the path, and with the descriptor of the folder that contains this
    /// component.
    func inParent<Value>(
        of path: String, _ attempted: String, _ body: (Int32, String) throws(SystemFailure) -> Value
    ) throws(SystemFailure) -> Value {
        var components = try Self.components(of: path, attempted)
        guard let name = components.popLast() else { throw SystemFailure(attempted, EINVAL) }
        guard !components.isEmpty else { return try body(descriptor, name) }
        let folders = components.map { Array($0.utf8) }
        let parent = resolution.open(folders, in: descriptor, PathResolution.pathOnly | O_DIRECTORY | O_CLOEXEC, 0)
        guard parent >= 0 else { throw SystemFailure(attempted, errno) }
        defer { close(parent) }
        return try body(parent, name)
    }

    /// Returns `path` relative to `folder`: "" if they are equal, nil if `path` is not in `folder`. Compares only the
    /// texts of the paths.
    package static func part(of path: String, below folder: String) -> String? {
        part(of: Array(path.utf8), below: folder).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Like ``part(of:below:)``, but for a path that need not be valid UTF-8.
    package static func part(of path: [UInt8], below folder: String) -> [UInt8]? {
        let folder = folder.utf8.last == Path.slash ? folder.utf8.dropLast() : folder.utf8[...]
        guard path.starts(with: folder) else { return nil }
        let rest = path.dropFirst(folder.count)
        guard rest.isEmpty || rest.first == Path.slash else { return nil }
        return Array(rest.drop { $0 == Path.slash })
    }

    private static func components(of path: String, _ attempted: String) throws(SystemFailure) -> [String] {
        try components(of: Array(path.utf8), attempted).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func components(of path: [UInt8], _ attempted: String) throws(SystemFailure) -> [[UInt8]] {
        // The system ends a path at its first NUL.
        guard !path.contains(0) else { throw SystemFailure(attempted, EINVAL) }
        let components = path.split(separator: Path.slash).map { Array($0) }
        guard path.first != Path.slash, !components.contains(Array("..".utf8)) else {
            throw SystemFailure(attempted, EXDEV)
        }
        return components.filter { $0 != Array(".".utf8) }
    }
}
