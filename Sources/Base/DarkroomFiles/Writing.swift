import Glibc

/// Writes `bytes` at the current position of a file, or to a pipe or terminal. Waits while the file accepts no bytes.
package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(SystemFailure) {
    var written = 0
    while written < bytes.count {
        let count = write(descriptor, bytes.baseAddress! + written, bytes.count - written)  // not empty
        if count < 0 && errno == EINTR { continue }
        if count < 0 && errno == EAGAIN {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&waiting, 1, 100)
            continue
        }
        guard count > 0 else { throw SystemFailure("write", count == 0 ? ENOSPC : errno) }
        written += count
    }
}

/// Writes the content of a new file. Closes the file even if writing fails.
/// - Parameters:
///   - time: the time that the file gets; nil for the current time.
///   - isDurable: whether the content must be on the disk when this function returns.
///   - finish: called with the open file when its content is written, for example to change its mode.
package func fill(
    _ descriptor: Int32, with bytes: UnsafeRawBufferPointer, time: FileTime? = nil, isDurable: Bool = false,
    finish: (Int32) throws(SystemFailure) -> Void = { _ in }
) throws(SystemFailure) {
    do throws(SystemFailure) {
        try writeAll(bytes, to: descriptor)
        try finish(descriptor)
        time?.set(on: descriptor)
        guard !isDurable || fdatasync(descriptor) == 0 else { throw SystemFailure("make durable", errno) }
    } catch {
        close(descriptor)
        throw error
    }
    // Some network file systems report a full disk only when a file is closed.
    guard close(descriptor) == 0 else { throw SystemFailure("close", errno) }
}

/// Writes the content of a new file. Closes the file even if writing fails.
package func fill(_ descriptor: Int32, with bytes: [UInt8], isDurable: Bool = false) throws(SystemFailure) {
    try bytes.withUnsafeBytes { bytes in
        Result { () throws(SystemFailure) in try fill(descriptor, with: bytes, isDurable: isDurable) }
    }.get()
}

extension Folder {
    /// Tries to write `byteCount` bytes to an unnamed file and to make them durable.
    /// - Parameter path: a subfolder. If the subfolder is missing, the file is written to this folder instead.
    package func tryWriting(_ byteCount: Int, below path: String = "") throws(SystemFailure) {
        let name = ".darkroom-probe-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        var file = Path.joined(path, name)
        let descriptor: Int32
        do throws(SystemFailure) {
            descriptor = try create(file, mode: 0o600)
        } catch {
            guard error.error == ENOENT, !path.isEmpty else { throw error }
            file = name
            descriptor = try create(file, mode: 0o600)
        }
        defer { close(descriptor) }
        // The system removes the file when the descriptor is closed, even if this process is killed.
        try remove(file)
        let zeros = [UInt8](repeating: 0, count: min(byteCount, 1 << 16))
        var left = byteCount
        while left > 0 {
            let count = min(left, zeros.count)
            try zeros[..<count].withUnsafeBytes { part in
                Result { () throws(SystemFailure) in try writeAll(part, to: descriptor) }
            }.get()
            left -= count
        }
        // Some file systems report a full or failing disk only at this call. EINVAL: the file system cannot sync files.
        guard byteCount == 0 || fdatasync(descriptor) == 0 || errno == EINVAL else {
            throw SystemFailure("sync", errno)
        }
    }
}
