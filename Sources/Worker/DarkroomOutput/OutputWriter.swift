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
        /// The size of all files of the photo.
        package let bytes: Int
        /// The path of the temporary file, relative to `place`, if it could not be removed.
        package var staleFile: String?
    }

    /// A file to write.
    package struct File {
        /// The path relative to the output folder.
        package let path: String
        package let byteCount: Int
        /// The time that the file gets; nil for the current time.
        let time: FileTime?
        /// Calls its argument with the bytes.
        let withBytes: ((UnsafeRawBufferPointer) throws(SystemFailure) -> Void) throws(SystemFailure) -> Void

        package init(
            path: String, byteCount: Int, time: FileTime? = nil,
            withBytes: @escaping ((UnsafeRawBufferPointer) throws(SystemFailure) -> Void) throws(SystemFailure) -> Void
        ) {
            self.path = path
            self.byteCount = byteCount
            self.time = time
            self.withBytes = withBytes
        }

        fileprivate var folder: String { Path.split(path).folder ?? "" }
    }

    /// Writes the files of a photo to `place`. Creates missing subfolders, and replaces existing files.
    ///
    /// The files get their final names when all of them are complete. Each must be in another folder. A file that has
    /// its final name is never removed, because it may be the file of another worker: if a later rename fails, the
    /// earlier files stay, and are replaced when the photo is developed again.
    /// - Parameters:
    ///   - temporaryName: the name of the temporary files; hidden, and unique in each folder among all workers.
    ///   - isDurable: whether the bytes are on the disk before a file gets its final name. If false, a power failure
    ///     can leave an empty file with the final name, unless the caller syncs the file system.
    ///   - isWanted: called directly before the files get their final names; if it returns false, they are removed.
    /// - Returns: false if `isWanted` returned false.
    package static func write(
        _ files: [File], in place: OutputPlace, temporaryName: String, isDurable: Bool = false,
        isWanted: () -> Bool = { true }
    ) throws(Failure) -> Bool {
        var temporaries: [String] = []
        var current = files.first
        func failure(_ system: SystemFailure) -> Failure {
            let isFull = system.error == ENOSPC || system.error == EDQUOT
            let path = current?.path ?? ""
            return Failure(
                reason: isFull ? .diskFull : .outputDenied,
                detail: place.detail(of: system) ?? "\(system.attempted) \(place.folder)/\(path): \(system.text)",
                error: system.error,
                isOfPlace: ["see", "hold"].contains(system.attempted)
                    || [EROFS, ESTALE, ENOTCONN].contains(system.error), place: place,
                folder: current?.folder ?? "", bytes: files.reduce(0) { $0 + $1.byteCount })
        }
        let root: Folder
        do throws(SystemFailure) { root = try place.open() } catch { throw failure(error) }
        do throws(SystemFailure) {
            for file in files {
                current = file
                let temporary = Path.joined(file.folder, temporaryName)
                let descriptor = try create(temporary, in: root, file.folder)
                temporaries.append(temporary)
                try file.withBytes { bytes throws(SystemFailure) in
                    try fill(descriptor, with: bytes, time: file.time, isDurable: isDurable)
                }
            }
            if isWanted() {
                try place.whileHolding(root) { () throws(SystemFailure) in
                    // The usual reason why a rename fails is found before the first rename.
                    for file in files {
                        current = file
                        guard let found = try root.status(of: file.path), found.st_mode & S_IFMT == S_IFDIR else {
                            continue
                        }
                        throw SystemFailure("rename", EISDIR)
                    }
                    for (temporary, file) in zip(temporaries, files) {
                        current = file
                        try root.rename(temporary, to: file.path)
                    }
                }
                return true
            }
        } catch {
            var failure = failure(error)
            for temporary in temporaries {
                do throws(SystemFailure) {
                    try root.remove(temporary)
                } catch {
                    // Without a temporary file, the file already had its final name.
                    if error.error != ENOENT { failure.staleFile = temporary }
                }
            }
            throw failure
        }
        // If the removal fails, the next worker that claims the operation removes the file.
        for temporary in temporaries { try? root.remove(temporary) }
        return false
    }

    /// Writes `bytes` to `path` in `place`, unconditionally.
    package static func write(
        _ bytes: [UInt8], to path: String, in place: OutputPlace, temporaryName: String, time: FileTime? = nil,
        isDurable: Bool = false
    ) throws(Failure) {
        let file = File(path: path, byteCount: bytes.count, time: time) { write throws(SystemFailure) in
            try bytes.withUnsafeBytes { buffer in Result { () throws(SystemFailure) in try write(buffer) } }.get()
        }
        _ = try write([file], in: place, temporaryName: temporaryName, isDurable: isDurable)
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
