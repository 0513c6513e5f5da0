import Glibc

/// Creates, renames and removes files.
extension Folder {
    /// Creates a new file. Removes an existing file first, so that this process never writes to a file that another
    /// process has opened.
    /// - Returns: a descriptor for writing, which the caller closes.
    package func create(_ path: String, mode: mode_t = 0o644) throws(SystemFailure) -> Int32 {
        let flags = O_WRONLY | O_CREAT | O_EXCL
        do throws(SystemFailure) {
            return try open(path, flags, mode: mode, attempted: "create")
        } catch {
            guard error.error == EEXIST else { throw error }
            try remove(path)
            return try open(path, flags, mode: mode, attempted: "create")
        }
    }

    /// Renames a file. Replaces a file or link that already has the new name.
    package func rename(_ path: String, to target: String) throws(SystemFailure) {
        try inParent(of: path, "rename") { (source, name) throws(SystemFailure) in
            try inParent(of: target, "rename") { (folder, newName) throws(SystemFailure) in
                guard renameat(source, name, folder, newName) == 0 else { throw SystemFailure("rename", errno) }
            }
        }
    }

    /// Removes a file or a link. Does nothing if the file or link does not exist.
    package func remove(_ path: String) throws(SystemFailure) { try unlink(path, 0) }

    /// Removes an empty folder. Does nothing if the folder does not exist.
    package func removeFolder(_ path: String) throws(SystemFailure) { try unlink(path, Int32(AT_REMOVEDIR)) }

    /// Removes a folder and its content. Does not follow links. Does nothing if the folder does not exist.
    package func removeTree(_ path: String) throws(SystemFailure) {
        let tree: Folder
        do throws(SystemFailure) {
            tree = try folder(path)
        } catch {
            guard error.error == ENOTDIR || error.error == ELOOP else {
                if error.error == ENOENT { return }
                throw error
            }
            return try remove(path)
        }
        for name in try tree.names() { try tree.removeTree(name) }
        try removeFolder(path)
    }

    /// Writes a file under a hidden temporary name and then renames it, so that readers never see an incomplete file.
    /// - Parameter isDurable: whether the file and its name must be on the disk when this function returns. A durable
    ///   file must be in this folder and not in a subfolder.
    package func replace(
        _ path: String, with bytes: [UInt8], mode: mode_t = 0o600, isDurable: Bool = false
    ) throws(SystemFailure) {
        let (folder, name) = Path.split(path)
        let temporary = Path.joined(folder ?? "", ".\(name).\(getpid())-\(UInt32.random(in: 0...UInt32.max))")
        let file = try create(temporary, mode: mode)
        do throws(SystemFailure) {
            try fill(file, with: bytes, isDurable: isDurable)
            try rename(temporary, to: path)
            if isDurable { try makeDurable("") }
        } catch {
            // If the removal also fails, the first failure is reported.
            try? remove(temporary)
            throw error
        }
    }

    /// Opens a folder whose path is relative to this one. Creates missing folders of the path. A new folder gets the
    /// mode of its parent folder and, as far as this process may set them, the owner and the group of the parent
    /// folder. Therefore, the same users can write to the new folders and to the parent folder.
    package func makeFolderLikeParent(_ path: String) throws(SystemFailure) -> Folder {
        var folder = try self.folder("")
        for component in Path.components(of: path) {
            let isNew = mkdirat(folder.descriptor, component, 0o700) == 0
            guard isNew || errno == EEXIST else { throw SystemFailure("make", errno) }
            let parent = try folder.status()
            folder = try folder.folder(component)
            guard isNew else { continue }
            // Only root may set the owner. The second call sets the group only. If this process may not set the group
            // either, the new folder keeps the owner and group of this process.
            _ = fchown(folder.descriptor, parent.st_uid, parent.st_gid)
            _ = fchown(folder.descriptor, uid_t.max, parent.st_gid)
            guard fchmod(folder.descriptor, parent.st_mode & 0o7777) == 0 else { throw SystemFailure("make", errno) }
        }
        return folder
    }

    /// Waits until the content of a file, or the names in a folder, are on the disk.
    /// - Parameter path: The file or folder; "" is the folder itself.
    package func makeDurable(_ path: String) throws(SystemFailure) {
        let file = try open(path, O_RDONLY)
        defer { close(file) }
        // EINVAL: the file system cannot sync folders.
        guard fsync(file) == 0 || errno == EINVAL else { throw SystemFailure("make durable", errno) }
    }

    private func unlink(_ path: String, _ flags: Int32) throws(SystemFailure) {
        do throws(SystemFailure) {
            try inParent(of: path, "remove") { (folder, name) throws(SystemFailure) in
                guard unlinkat(folder, name, flags) == 0 else { throw SystemFailure("remove", errno) }
            }
        } catch {
            guard error.error == ENOENT else { throw error }
        }
    }
}
