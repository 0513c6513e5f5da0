import DarkroomModel
import Foundation

/// Writes files so that under their final name they are whole or not there: under a temporary name in the same folder first.
enum OutputWriter {
    /// Why a file could not be written.
    struct Failure: Error {
        let reason: FailureReason
        let detail: String
    }

    /// Writes `bytes` to `folder`/`path`, making the folders between them, and replaces what is there.
    /// - Parameters:
    ///   - temporaryName: unique in the folder among all workers, and hidden.
    ///   - isDurable: whether its bytes are on the disk before it gets its final name; otherwise a power cut can leave an
    ///     empty file under it, and whoever relies on it syncs the file system first.
    ///   - isWanted: asked right before the file gets its final name; false throws the file away.
    /// - Returns: false when it was not wanted any more.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to path: String, in folder: String, temporaryName: String,
        isDurable: Bool = false, isWanted: () -> Bool = { true }
    ) throws(Failure) -> Bool {
        let final = folder + "/" + path
        let parent = final[..<(final.lastIndex(of: "/") ?? final.startIndex)]
        let temporary = parent + "/" + temporaryName
        var descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        if descriptor < 0, errno == ENOENT, path.contains("/"), mkdir(String(parent), 0o755) == 0 || errno == EEXIST {
            descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        }
        guard descriptor >= 0 else { throw failure(errno, "create", final) }
        do throws(Failure) {
            try writeAll(bytes, to: descriptor, final)
            guard !isDurable || fdatasync(descriptor) == 0 else { throw failure(errno, "make durable", final) }
        } catch {
            close(descriptor)
            unlink(temporary)
            throw error
        }
        // Some network file systems tell of a full disk only now.
        guard close(descriptor) == 0 else {
            let error = errno
            unlink(temporary)
            throw failure(error, "close", final)
        }
        guard isWanted() else {
            unlink(temporary)
            return false
        }
        guard rename(temporary, final) == 0 else {
            let error = errno
            unlink(temporary)
            throw failure(error, "rename", final)
        }
        return true
    }

    /// Writes `bytes` as above; nobody may have come to not want them.
    static func write(
        _ bytes: [UInt8], to path: String, in folder: String, temporaryName: String, isDurable: Bool = false
    ) throws(Failure) {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(Failure) in
                try write(buffer, to: path, in: folder, temporaryName: temporaryName, isDurable: isDurable)
            }
        }
        _ = try result.get()
    }

    private static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ name: String) throws(Failure)
    {
        var written = 0
        while written < bytes.count {
            let count = Foundation.write(descriptor, bytes.baseAddress! + written, bytes.count - written)  // not empty
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw failure(count == 0 ? ENOSPC : errno, "write", name) }
            written += count
        }
    }

    private static func failure(_ error: Int32, _ attempted: String, _ name: String) -> Failure {
        let isFull = error == ENOSPC || error == EDQUOT
        return Failure(
            reason: isFull ? .diskFull : .outputDenied,
            detail: "\(attempted) \(name): \(String(cString: strerror(error)))")
    }
}
