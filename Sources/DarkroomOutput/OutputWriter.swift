import DarkroomFiles
import DarkroomModel
import Foundation

/// Writes files under a temporary name and renames them, so that every file with a final name is complete.
package enum OutputWriter {
    /// Why a file could not be written.
    package struct Failure: Error {
        package let reason: FailureReason
        package let detail: String
        package let error: Int32
        /// Whether the failure affects the whole folder, and not only this file.
        package let isOfPlace: Bool
        package let place: OutputPlace
        /// The subfolder of the file, relative to `place`; "" for `place` itself.
        package let folder: String
        package let bytes: Int
        /// The path of the temporary file, relative to `place`, if it could not be removed.
        package var staleFile: String?
    }

    /// Writes `bytes` to a file in `place`. Creates missing subfolders of its `path`, and replaces an existing file.
    /// - Parameters:
    ///   - temporaryName: the name of the temporary file; hidden, and unique in the folder among all workers.
    ///   - isDurable: whether the bytes are on the disk before the file gets its final name. If false, a power failure
    ///     can leave an empty file with the final name, unless the caller syncs the file system.
    ///   - isWanted: called directly before the file gets its final name; if it returns false, the file is removed.
    /// - Returns: false if `isWanted` returned false.
    package static func write(
        _ bytes: UnsafeRawBufferPointer, to path: String, in place: OutputPlace, temporaryName: String,
        isDurable: Bool = false, isWanted: () -> Bool = { true }
    ) throws(Failure) -> Bool {
        let folder = Path.split(path).folder ?? ""
        let temporary = Path.joined(folder, temporaryName)
        func failure(_ system: SystemFailure) -> Failure {
            let isFull = system.error == ENOSPC || system.error == EDQUOT
            return Failure(
                reason: isFull ? .diskFull : .outputDenied,
                detail: place.detail(of: system) ?? "\(system.attempted) \(place.folder)/\(path): \(system.text)",
                error: system.error,
                isOfPlace: ["see", "hold"].contains(system.attempted)
                    || [EROFS, ESTALE, ENOTCONN].contains(system.error), place: place,
                folder: folder, bytes: bytes.count)
        }
        let root: Folder
        let descriptor: Int32
        do throws(SystemFailure) {
            root = try place.open()
            descriptor = try create(temporary, in: root, folder)
        } catch {
            throw failure(error)
        }
        do throws(SystemFailure) {
            try fill(descriptor, with: bytes, isDurable: isDurable)
            if isWanted() {
                try place.whileHolding(root) { () throws(SystemFailure) in try root.rename(temporary, to: path) }
                return true
            }
        } catch {
            var failure = failure(error)
            do throws(SystemFailure) { try root.remove(temporary) } catch {
                failure.staleFile = temporary
            }
            throw failure
        }
        // If the removal fails, the next worker that claims the operation removes the file.
        try? root.remove(temporary)
        return false
    }

    /// Writes `bytes` to `path` in `place`, unconditionally.
    package static func write(
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
        _ temporary: String, in root: Folder, _ folder: String
    ) throws(SystemFailure) -> Int32 {
        do throws(SystemFailure) {
            return try root.create(temporary)
        } catch {
            guard error.error == ENOENT, !folder.isEmpty else { throw error }
            _ = try root.makeFolder(folder, mode: 0o755)
            return try root.create(temporary)
        }
    }
}

extension OutputPlace {
    /// Why no file can be written to the folder, and what to do; nil if the failure affects only one file.
    package func detail(of failure: SystemFailure) -> String? {
        switch failure.attempted {
        case "see" where failure.error == ELOOP || failure.error == EXDEV: "\(markerPath): \(failure.text)"
        case "see": "\(markerPath) is gone (\(failure.text)); is its share mounted?"
        case "hold": "\(folder): \(failure.text)"
        default: nil
        }
    }
}
