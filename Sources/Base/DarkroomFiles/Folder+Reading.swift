import Glibc

/// Lists a folder and reads its files.
extension Folder {
    /// The names in the folder, excluding `.` and `..`, in no particular order. Invalid UTF-8 is replaced with U+FFFD;
    /// a name with such a replacement cannot be used to open the file.
    package func names() throws(SystemFailure) -> [String] {
        // readdir(3) changes the position of the descriptor that it reads, so readdir(3) gets a separate descriptor.
        let copy = try open("", O_RDONLY | O_DIRECTORY)
        guard let stream = fdopendir(copy) else {
            defer { close(copy) }
            throw SystemFailure("read", errno)
        }
        defer { closedir(stream) }
        return try namesOfEntries(in: stream).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Opens the regular file at `path` for reading. Does not block. Throws if `path` is a link, a pipe or a device.
    /// - Returns: a descriptor, which the caller closes, and the size of the file in bytes.
    package func openFile(_ path: String) throws(SystemFailure) -> (descriptor: Int32, size: Int) {
        try openFile(Array(path.utf8))
    }

    /// Opens the regular file at `path`, which need not be valid UTF-8.
    package func openFile(_ path: [UInt8]) throws(SystemFailure) -> (descriptor: Int32, size: Int) {
        let (descriptor, status) = try openFileWithStatus(path)
        return (descriptor, Int(status.st_size))
    }

    private func openFileWithStatus(_ path: [UInt8]) throws(SystemFailure) -> (descriptor: Int32, status: stat) {
        let descriptor = try open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, attempted: "read")
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let error = errno
            close(descriptor)
            throw SystemFailure("read", error)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw SystemFailure("read", EINVAL, "it is not a regular file")
        }
        return (descriptor, status)
    }

    /// Reads the regular file at `path`.
    /// - Throws: ``SystemFailure``; its error is `EFBIG` if the file is larger than `maxBytes`.
    package func contents(of path: String, maxBytes: Int = .max) throws(SystemFailure) -> [UInt8] {
        try contentsAndTime(of: path, maxBytes: maxBytes).bytes
    }

    /// Reads the regular file at `path`, and the time of its last change.
    /// - Throws: ``SystemFailure``; its error is `EFBIG` if the file is larger than `maxBytes`.
    package func contentsAndTime(
        of path: String, maxBytes: Int = .max
    ) throws(SystemFailure) -> (bytes: [UInt8], time: FileTime) {
        let (descriptor, status) = try openFileWithStatus(Array(path.utf8))
        defer { close(descriptor) }
        guard status.st_size <= maxBytes else { throw SystemFailure("read", EFBIG) }
        return (try readAll(from: descriptor, size: Int(status.st_size)), FileTime(of: status))
    }
}

/// The names in an open folder, excluding `.` and `..`, in no particular order.
/// - Parameter stream: The result of opendir(3).
package func namesOfEntries(in stream: OpaquePointer) throws(SystemFailure) -> [[UInt8]] {
    var names: [[UInt8]] = []
    errno = 0
    while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
        if name != Array(".".utf8), name != Array("..".utf8) { names.append(name) }
        errno = 0
    }
    // At the end of the folder, readdir(3) does not change errno.
    guard errno == 0 else { throw SystemFailure("read", errno) }
    return names
}

extension Path {
    /// Reads the regular file at a path, and the time of its last change. The path need not be valid UTF-8. Follows
    /// links. Blocks.
    package static func contentsAndTime(
        of path: [UInt8]
    ) throws(SystemFailure) -> (bytes: [UInt8], time: FileTime) {
        let descriptor = withCString(path) { Glibc.open($0, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw SystemFailure("read", errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SystemFailure("read", EINVAL, "it is not a regular file")
        }
        return (try readAll(from: descriptor, size: Int(status.st_size)), FileTime(of: status))
    }
}

/// Reads `size` bytes of a file. Reads fewer if the file became shorter, or if `isStopped`, called before each MiB,
/// returns true.
package func readAll(
    from descriptor: Int32, size: Int, unless isStopped: () -> Bool = { false }
) throws(SystemFailure) -> [UInt8] {
    var failure: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
        while count < size, !isStopped() {
            // The address can be nil only if the size is 0; then this loop does not run.
            let got = read(descriptor, buffer.baseAddress! + count, min(size - count, 1 << 20))
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else {
                failure = got < 0 ? errno : 0
                break
            }
            count += got
        }
    }
    guard failure == 0 else { throw SystemFailure("read", failure) }
    return bytes
}
