import DarkroomModel
import Foundation

/// Writes files so that under their final name they are whole or not there: under a temporary name in the same folder first.
enum OutputWriter {
    /// Why a file could not be written.
    struct Failure: Error {
        let reason: FailureReason
        let detail: String
        /// The system's number.
        let error: Int32
        /// Whether the place itself was not seen, or could not be changed: nothing that is due to the one file.
        let isOfPlace: Bool
        /// Where it was to be written.
        let place: OutputPlace
        /// In which folder below `place`; "" for itself.
        let folder: String
        /// How many bytes it has.
        let bytes: Int
        /// The path of the temporary file when it could not be removed.
        var left: String?
    }

    /// Writes `bytes` to `path` below `place`, makes the folder that it names where it is missing, and replaces what is there.
    /// - Parameters:
    ///   - temporaryName: unique in the folder among all workers, and hidden.
    ///   - isDurable: whether its bytes are on the disk before it gets its final name; otherwise a power cut can leave an
    ///     empty file under it, and whoever relies on it syncs the file system first.
    ///   - isWanted: asked right before the file gets its final name; false throws the file away.
    /// - Returns: false when it was not wanted any more.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to path: String, in place: OutputPlace, temporaryName: String,
        isDurable: Bool = false, isWanted: () -> Bool = { true }
    ) throws(Failure) -> Bool {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
        let temporary = folder.isEmpty ? temporaryName : folder + "/" + temporaryName
        func failure(_ system: OutputPlace.SystemFailure) -> Failure {
            let isFull = system.error == ENOSPC || system.error == EDQUOT
            return Failure(
                reason: isFull ? .diskFull : .outputDenied,
                detail: system.attempted == "see"
                    ? "\(place.signPath) is gone (\(system.text)); is its share mounted?"
                    : "\(system.attempted) \(place.folder)/\(path): \(system.text)",
                error: system.error,
                isOfPlace: system.attempted == "see" || [EROFS, ESTALE, ENOTCONN].contains(system.error), place: place,
                folder: folder, bytes: bytes.count)
        }
        let root: Int32
        do throws(OutputPlace.SystemFailure) { root = try place.open() } catch { throw failure(error) }
        defer { close(root) }
        let descriptor: Int32
        do throws(OutputPlace.SystemFailure) {
            descriptor = try create(temporary, in: root, folder)
        } catch {
            throw failure(error)
        }
        do throws(OutputPlace.SystemFailure) {
            try fill(descriptor, bytes, isDurable: isDurable)
            if isWanted() {
                guard renameat(root, temporary, root, path) == 0 else {
                    throw OutputPlace.SystemFailure("rename", errno)
                }
                return true
            }
        } catch {
            var failure = failure(error)
            if unlinkat(root, temporary, 0) != 0, errno != ENOENT { failure.left = place.folder + "/" + temporary }
            throw failure
        }
        unlinkat(root, temporary, 0)
        return false
    }

    /// Writes `bytes` as above; nobody may have come to not want them.
    static func write(
        _ bytes: [UInt8], to path: String, in place: OutputPlace, temporaryName: String, isDurable: Bool = false
    ) throws(Failure) {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(Failure) in
                try write(buffer, to: path, in: place, temporaryName: temporaryName, isDurable: isDurable)
            }
        }
        _ = try result.get()
    }

    private static func create(
        _ temporary: String, in root: Int32, _ folder: String
    ) throws(OutputPlace.SystemFailure) -> Int32 {
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
        var descriptor = openat(root, temporary, flags, 0o644)
        if descriptor < 0, errno == ENOENT, !folder.isEmpty, mkdirat(root, folder, 0o755) == 0 || errno == EEXIST {
            descriptor = openat(root, temporary, flags, 0o644)
        }
        guard descriptor >= 0 else { throw OutputPlace.SystemFailure("create", errno) }
        return descriptor
    }

    /// Writes all there is to a new file, and closes it.
    private static func fill(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, isDurable: Bool
    ) throws(OutputPlace.SystemFailure) {
        do throws(OutputPlace.SystemFailure) {
            try writeAll(bytes, to: descriptor)
            guard !isDurable || fdatasync(descriptor) == 0 else {
                throw OutputPlace.SystemFailure("make durable", errno)
            }
        } catch {
            close(descriptor)
            throw error
        }
        // Some network file systems tell of a full disk only now.
        guard close(descriptor) == 0 else { throw OutputPlace.SystemFailure("close", errno) }
    }

    /// Writes `bytes` where a file's descriptor stands.
    static func writeAll(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32
    ) throws(OutputPlace.SystemFailure) {
        var written = 0
        while written < bytes.count {
            let count = Foundation.write(descriptor, bytes.baseAddress! + written, bytes.count - written)  // not empty
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw OutputPlace.SystemFailure("write", count == 0 ? ENOSPC : errno) }
            written += count
        }
    }
}
