import Glibc

/// The holder of a folder: the batch that took it last. Only the holder may give files their final names there.
///
/// DESIGN. A process that is cut off from Redis cannot learn from it that another batch has taken the folder. A file in the
/// folder therefore names the holder. The file is written to and never replaced. Before a process renames a file to its final
/// name, it takes a shared lock (flock(2)) on the holder file, reads it, and keeps the lock until the rename is done. A batch
/// that takes the folder first writes its own name, so that no process of another batch begins a rename, and then waits for
/// the exclusive lock, so that every rename that had begun is done. On a file system without locks, a rename can still follow
/// if the folder is taken between the read and the rename.
public struct FolderHolder: Sendable, Hashable {
    /// Its name: letters and digits of ASCII, `-` and `_`, at most 64.
    public let owner: String
    /// Of several that take a folder the one with the largest number has it.
    public let number: Int

    /// A holder by its name and number.
    public init(owner: String, number: Int) {
        self.owner = owner
        self.number = number
    }

    /// The holder that the file at `path` names; nil when there is no such file, or nothing in it.
    public static func read(_ path: String, in folder: Folder) throws(SystemFailure) -> FolderHolder? {
        do throws(SystemFailure) {
            let file = try folder.openFile(path).descriptor
            defer { close(file) }
            return try read(file)
        } catch {
            guard error.error == ENOENT else { throw error }
            return nil
        }
    }

    /// Takes the folder, unless another has it whose number is larger.
    /// - Returns: that other; nil when this is the holder now.
    public func take(_ path: String, in folder: Folder) throws(SystemFailure) -> FolderHolder? {
        let file = try folder.open(path, O_RDWR | O_CREAT | O_NONBLOCK, mode: 0o666, attempted: "hold")
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SystemFailure("hold", EINVAL, "\(path) is not a regular file")
        }
        let found = try Self.read(file)
        if let found, found.precludes(self) { return found.owner == owner ? nil : found }
        try write(to: file)
        try Self.lock(file, LOCK_EX)
        // Another may have taken it at the same time: the last of them to have the lock decides.
        let latest = try Self.read(file)
        if let latest, latest != self, latest.precludes(self) { return latest.owner == owner ? nil : latest }
        if latest != self { try write(to: file) }
        return nil
    }

    /// Calls `body` while nobody can take the folder.
    /// - Throws: ``SystemFailure`` with the verb `hold` when another has it.
    public func whileHolding(
        _ path: String, in folder: Folder, _ body: () throws(SystemFailure) -> Void
    ) throws(SystemFailure) {
        let file: Int32
        do throws(SystemFailure) {
            file = try folder.openFile(path).descriptor
        } catch {
            guard error.error == ENOENT else { throw SystemFailure("hold", error.error, error.text) }
            return try body()  // nobody has ever taken it
        }
        defer { close(file) }
        try Self.lock(file, LOCK_SH)
        let found = try Self.read(file)
        guard found == nil || found?.owner == owner else {
            throw SystemFailure("hold", EBUSY, "batch \(found?.owner ?? "") has taken the folder")
        }
        try body()
    }

    /// Whether `other` does not get the folder from this one.
    private func precludes(_ other: FolderHolder) -> Bool {
        (number, owner) >= (other.number, other.owner)
    }

    private static let bytes = 96
    private static let patience = Duration.seconds(10)

    private static func read(_ file: Int32) throws(SystemFailure) -> FolderHolder? {
        var buffer = [UInt8](repeating: 0, count: bytes)
        let count = pread(file, &buffer, buffer.count, 0)
        guard count >= 0 else { throw SystemFailure("hold", errno) }
        guard count > 0 else { return nil }
        let words = String(decoding: buffer.prefix(count), as: UTF8.self).split { $0 == " " || $0 == "\n" }
        let isName = words.first?.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
                || byte == 95
        }
        guard words.count == 2, isName == true, let number = Int(words[1]) else {
            throw SystemFailure("hold", EINVAL, "the file that names the folder's holder is damaged; remove it")
        }
        return FolderHolder(owner: String(words[0]), number: number)
    }

    /// Writes the holder in one call and with a fixed length, so that readers never see a part of it.
    private func write(to file: Int32) throws(SystemFailure) {
        var text = Array("\(owner) \(number)".utf8)
        text += [UInt8](repeating: UInt8(ascii: " "), count: Self.bytes - 1 - text.count) + [UInt8(ascii: "\n")]
        let count = pwrite(file, text, text.count, 0)
        guard count == text.count else { throw SystemFailure("hold", count < 0 ? errno : ENOSPC) }
    }

    /// Waits for a lock, but not for ever: who has it may stand still.
    private static func lock(_ file: Int32, _ kind: Int32) throws(SystemFailure) {
        let deadline = ContinuousClock.now + patience
        while flock(file, kind | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK:
                guard ContinuousClock.now < deadline else {
                    throw SystemFailure("hold", ETIMEDOUT, "another process holds the lock of the folder's holder")
                }
                usleep(2000)  // no signal tells of a lock that is free within a time
            default: return  // there are no locks here
            }
        }
    }
}
