import DarkroomConcurrency
import DarkroomFiles
import DarkroomText
import Glibc

/// The folders from which this process may read files, and the size of the largest file that may be read.
package struct ReadableFolders: Sendable {
    let folders: [String]
    let maxBytes: Int

    /// The reason why the file at a `file:` URL must not be read; nil if the file may be read, or if the URL has
    /// another scheme.
    /// - Parameter folders: the folders from which this process may read files. Links are resolved.
    package static func denial(of url: String, folders: [String]) -> TransferError? {
        do throws(TransferError) {
            guard case .file(let path) = try TransferURL(parsing: url) else { return nil }
            _ = try ReadableFolders(folders: folders, maxBytes: 0).place(of: path)
            return nil
        } catch {
            return error.code == .fileDenied ? error : nil
        }
    }

    /// Returns the bytes and the time of the regular file at `path` if its real path is in one of `folders`. Stops
    /// reading when `unwanted` is set.
    func contents(
        ofFile path: FilePath, unless unwanted: Latch
    ) throws(TransferError) -> (bytes: [UInt8], time: FileTime?) {
        guard !unwanted.isSet else { throw .unwanted }
        let (folder, part) = try place(of: path)
        // The resolved path has no links. A link that was created after the path was resolved is not followed.
        let (descriptor, size): (Int32, Int)
        do throws(SystemFailure) {
            (descriptor, size) = try Folder(trusted: folder).openFile(part)
        } catch {
            throw TransferError(code: .fileNotFound, detail: "\(path): \(error.text)")
        }
        defer { close(descriptor) }
        guard size <= maxBytes else {
            throw TransferError(code: .tooLarge, detail: "\(path) has more than \(maxBytes) bytes")
        }
        let bytes: [UInt8]
        do throws(SystemFailure) {
            bytes = try readAll(from: descriptor, size: size) { unwanted.isSet }
        } catch {
            throw TransferError(code: .other, detail: "\(path) could not be read: \(error.text)")
        }
        guard !unwanted.isSet else { throw .unwanted }
        guard bytes.count == size else {
            throw TransferError(code: .truncated, detail: "\(path) became shorter while it was read")
        }
        var status = stat()
        return (bytes, fstat(descriptor, &status) == 0 ? FileTime(of: status) : nil)
    }

    /// The real path of the folder that contains the file, and the path of the file in this folder.
    private func place(of file: FilePath) throws(TransferError) -> (folder: String, part: [UInt8]) {
        let path = file.description
        let denied = TransferError(
            code: .fileDenied,
            detail: folders.isEmpty
                ? "file: URLs are not read"
                : "\(path) lies outside the folders that may be read")
        let realFolders = folders.compactMap(Path.real)
        guard let real = Path.realBytes(file.bytes) else {
            // If the path cannot be resolved, the unresolved path is checked. Otherwise the error would reveal which
            // files exist in other folders.
            let missing = errno
            guard !Path.climbs(path), (realFolders + folders).contains(where: { Self.isBelow($0, path) }) else {
                throw denied
            }
            throw TransferError(code: .fileNotFound, detail: "\(path): \(systemErrorText(missing))")
        }
        let places = realFolders.compactMap { folder in Folder.part(of: real, below: folder).map { (folder, $0) } }
        guard let place = places.first, !place.1.isEmpty else { throw denied }
        return place
    }

    private static func isBelow(_ folder: String, _ path: String) -> Bool {
        Folder.part(of: path, below: folder)?.isEmpty == false
    }
}

extension TransferError {
    fileprivate static var unwanted: TransferError {
        TransferError(code: .cancelled, detail: "cancelled while it was read")
    }
}
