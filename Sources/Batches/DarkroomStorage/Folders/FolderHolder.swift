import DarkroomFiles
import Glibc

/// The holder of a folder: the batch that took the folder last. Only the holder may rename files to their final names
/// in the folder.
///
/// DESIGN. A process that cannot reach Redis does not learn from Redis that another batch has taken the folder.
/// Therefore a file in the folder also names the holder. This holder file is overwritten in place and never replaced.
/// Before a process renames a file to its final name, it takes a shared lock (flock(2)) on the holder file and reads
/// the holder. It keeps the lock until the rename is done. To take the folder for a batch, a process first writes the
/// batch's name and the word `taking` to the holder file, so that no process of another batch starts a rename. The
/// process then waits for the exclusive lock, so that all running renames are done, and writes the name without
/// `taking`. If a process reads the name of its own batch with `taking`, it also waits for the lock. On a file system
/// without locks, the folder may be taken between the read and the rename.
package struct FolderHolder: Sendable, Hashable {
    /// The name of the holder: at most 64 ASCII letters, digits, `-` and `_`.
    package let owner: String
    /// The number of the holder. The holder with the largest number holds the folder.
    package let number: Int

    package init(owner: String, number: Int) {
        self.owner = owner
        self.number = number
    }

    /// Reads the holder from the file at `path`. Returns nil if the file is missing or empty.
    package static func read(_ path: String, in folder: Folder) throws(SystemFailure) -> FolderHolder? {
        do throws(SystemFailure) {
            let file = try folder.openFile(path).descriptor
            defer { close(file) }
            return try content(of: file)?.holder
        } catch {
            guard error.error == ENOENT else { throw error }
            return nil
        }
    }

    /// Takes the folder unless another holder has a larger number. Blocks until renames of other holders have ended.
    /// - Parameters:
    ///   - path: The file that names the holder.
    ///   - patience: The longest wait for other processes.
    /// - Returns: The holder with the larger number; nil if this holder holds the folder now.
    /// - Throws: ``SystemFailure`` with `ETIMEDOUT` if a process still holds the lock at the end of this wait. In this
    ///   case the caller must not write. ``SystemFailure`` with `ERANGE` if ``number`` is not in ``numbers``.
    package func take(
        _ path: String, in folder: Folder, patience: Duration = .seconds(10)
    ) throws(SystemFailure) -> FolderHolder? {
        guard Self.numbers.contains(number) else {
            throw SystemFailure("hold", ERANGE, "batch \(owner) has the invalid number \(number)")
        }
        let (file, isWritable) = try Self.open(path, in: folder)
        defer { close(file) }
        if let found = try Self.content(of: file), found.holder.precludes(self) {
            guard found.holder.owner == owner else { return found.holder }
            if !found.isTaking { return nil }
        } else if isWritable {
            try write(to: file, isTaking: true)
        }
        guard isWritable else { throw SystemFailure("hold", EACCES, "this user may not write to \(path)") }
        try Self.lock(file, LOCK_EX, patience)
        // Another holder may have taken the folder before this process got the lock, so the file is read again.
        guard let latest = try Self.content(of: file), latest.holder.precludes(self) else {
            try write(to: file, isTaking: false)
            return nil
        }
        guard latest.holder.owner == owner else { return latest.holder }
        if latest.isTaking { try latest.holder.write(to: file, isTaking: false) }
        return nil
    }

    /// Calls `body` while no other holder can take the folder.
    /// - Throws: ``SystemFailure`` with the attempted action `hold` if another holder holds the folder.
    package func whileHolding(
        _ path: String, in folder: Folder, _ body: () throws(SystemFailure) -> Void
    ) throws(SystemFailure) {
        let file: Int32
        do throws(SystemFailure) {
            file = try folder.openFile(path).descriptor
        } catch {
            guard error.error == ENOENT else { throw SystemFailure("hold", error.error, error.text) }
            return try body()  // no holder has ever taken the folder
        }
        defer { close(file) }
        while true {
            try Self.lock(file, LOCK_SH, .seconds(10))
            guard let found = try Self.content(of: file) else { break }
            guard found.holder.owner == owner else { throw SystemFailure(takenBy: found.holder.owner) }
            guard found.isTaking else { break }
            // A process has begun to take the folder for this batch. `take` waits for renames of the previous holder.
            flock(file, LOCK_UN)
            if let other = try take(path, in: folder) { throw SystemFailure(takenBy: other.owner) }
        }
        try body()
    }

    /// Opens the holder file for writing, or only for reading if this user may not write to it. Creates a missing file.
    /// Users who may write to the folder may read and write the file; other users can neither read nor lock it.
    private static func open(
        _ path: String, in folder: Folder
    ) throws(SystemFailure) -> (descriptor: Int32, isWritable: Bool) {
        var (descriptor, isWritable): (Int32, Bool)
        do throws(SystemFailure) {
            (descriptor, isWritable) = (try folder.open(path, O_RDWR | O_NONBLOCK, attempted: "hold"), true)
        } catch {
            switch error.error {
            case ENOENT:
                let above = Path.split(path).folder ?? ""
                let mode = try above.isEmpty ? folder.status().st_mode : folder.status(of: above)?.st_mode ?? 0
                descriptor = try folder.open(path, O_RDWR | O_CREAT | O_NONBLOCK, mode: 0o600, attempted: "hold")
                isWritable = true
                let write = mode & 0o222
                // This call is expected to fail if another user has created the file since the first attempt to open
                // it.
                _ = fchmod(descriptor, write | write << 1)
            case EACCES:
                descriptor = try folder.open(path, O_RDONLY | O_NONBLOCK, attempted: "hold")
                isWritable = false
            default: throw error
            }
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw SystemFailure("hold", EINVAL, "\(path) is not a regular file")
        }
        return (descriptor, isWritable)
    }

    /// Whether this holder prevents `other` from taking the folder.
    private func precludes(_ other: FolderHolder) -> Bool {
        (number, owner) >= (other.number, other.owner)
    }

    /// The valid numbers. A number is the time of the Redis clock in milliseconds, or the successor of a number that
    /// Redis assigned before or that was found in a folder. A number can be above this range only if Redis is damaged,
    /// or if a number found in a folder was near the end of this range.
    package static let numbers = 0...(1 << 52)
    private static let bytes = 96
    private static let taking = "taking"

    /// Reads which holder a file names, and whether the previous holder may still rename files.
    private static func content(of file: Int32) throws(SystemFailure) -> (holder: FolderHolder, isTaking: Bool)? {
        var buffer = [UInt8](repeating: 0, count: bytes)
        let count = pread(file, &buffer, buffer.count, 0)
        guard count >= 0 else { throw SystemFailure("hold", errno) }
        // After a power failure, some file systems fill a file with bytes of value 0 if its content was not on the disk
        // yet.
        guard buffer.prefix(count).contains(where: { ![0, 10, 32].contains($0) }) else { return nil }
        let words = String(decoding: buffer.prefix(count), as: UTF8.self).split { $0 == " " || $0 == "\n" }
        let isName = words.first?.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
                || byte == 95
        }
        let isTaking = words.count == 3 && words[2] == taking
        guard words.count == 2 || isTaking, isName == true, let number = Int(words[1]), numbers.contains(number)
        else {
            throw SystemFailure("hold", EINVAL, "the file that names the folder's holder is damaged; remove it")
        }
        return (FolderHolder(owner: String(words[0]), number: number), isTaking)
    }

    /// Writes the holder with a single call and a fixed length, so that readers never see an incomplete text.
    private func write(to file: Int32, isTaking: Bool) throws(SystemFailure) {
        var text = Array("\(owner) \(number)\(isTaking ? " \(Self.taking)" : "")".utf8)
        text += [UInt8](repeating: UInt8(ascii: " "), count: Self.bytes - 1 - text.count) + [UInt8(ascii: "\n")]
        let count = pwrite(file, text, text.count, 0)
        guard count == text.count else { throw SystemFailure("hold", count < 0 ? errno : ENOSPC) }
        // An error is ignored: if the disk fails, later writes also fail. If the holder file is lost, the next batch
        // writes it again.
        _ = fdatasync(file)
    }

    /// Waits for a lock. Gives up after `patience`, because the process that holds the lock may be suspended.
    private static func lock(_ file: Int32, _ kind: Int32, _ patience: Duration) throws(SystemFailure) {
        let deadline = ContinuousClock.now + patience
        while flock(file, kind | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK:
                guard ContinuousClock.now < deadline else {
                    throw SystemFailure("hold", ETIMEDOUT, "another process holds the lock of this file")
                }
                usleep(2000)  // flock(2) has no timeout
            case EOPNOTSUPP, ENOSYS, EINVAL: return  // the file system has no locks
            case ENOLCK:
                throw SystemFailure(
                    "hold", ENOLCK, "no locks are available: start rpc.statd, or mount the share with -o nolock")
            default: throw SystemFailure("hold", errno)
            }
        }
    }
}

extension SystemFailure {
    package init(takenBy owner: String) { self.init("hold", EBUSY, "batch \(owner) has taken the folder") }

    /// True if a file was not renamed because another holder has taken the folder.
    package var isTakenFolder: Bool { attempted == "hold" && error == EBUSY }

    /// True if another process holds the lock of the holder file. Any process that can read the file may hold it.
    var isLocked: Bool { attempted == "hold" && error == ETIMEDOUT }
}
