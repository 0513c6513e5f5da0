import DarkroomConcurrency
import DarkroomFiles
import DarkroomText
import Glibc

/// The folders whose files may be read, and the largest file size.
struct ReadableFolders: Sendable {
    let folders: [String]
    let maxBytes: Int

    /// Returns the bytes of the regular file at `path` if its real path is in one of `folders`. Stops reading when
    /// `unwanted` is set.
    func contents(ofFile path: String, unless unwanted: Latch) throws(Refusal) -> [UInt8] {
        guard !unwanted.isSet else { throw .unwanted }
        let denied = Refusal(
            code: .schemeDenied,
            detail: folders.isEmpty
                ? "file: URLs are not read (--files-under allows a folder)"
                : "\(path) lies outside the folders that may be read (--files-under)")
        let realFolders = folders.compactMap(Path.real)
        guard let real = Path.real(path) else {
            // If a path cannot be resolved, its text is checked, so that the error does not reveal which files exist in
            // other folders.
            let missing = errno
            guard !Path.climbs(path), (realFolders + folders).contains(where: { Self.isBelow($0, path) }) else {
                throw denied
            }
            throw Refusal(code: .fileNotFound, detail: "\(path): \(systemErrorText(missing))")
        }
        let places = realFolders.compactMap { folder in Folder.part(of: real, below: folder).map { (folder, $0) } }
        guard let (folder, part) = places.first, !part.isEmpty else { throw denied }

        // The path is already resolved. A link that was created in the meantime is not followed.
        let (descriptor, size): (Int32, Int)
        do throws(SystemFailure) {
            (descriptor, size) = try Folder(trusted: folder).openFile(part)
        } catch {
            throw Refusal(code: .fileNotFound, detail: "\(path): \(error.text)")
        }
        defer { close(descriptor) }
        guard size <= maxBytes else {
            throw Refusal(code: .tooLarge, detail: "\(path) has more than \(maxBytes) bytes")
        }
        return try Self.bytes(of: descriptor, size: size, path: path, unless: unwanted)
    }

    private static func bytes(
        of descriptor: Int32, size: Int, path: String, unless unwanted: Latch
    ) throws(Refusal) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size, !unwanted.isSet {
                let got = read(descriptor, buffer.baseAddress! + count, min(size - count, 1 << 20))
                if got > 0 {
                    count += got
                } else if got == 0 || errno != EINTR {
                    failure = got == 0 ? 0 : errno
                    return
                }
            }
        }
        guard failure == 0 else {
            throw Refusal(code: .other, detail: "\(path) could not be read: \(systemErrorText(failure))")
        }
        guard !unwanted.isSet else { throw .unwanted }
        guard bytes.count == size else {
            throw Refusal(code: .truncated, detail: "\(path) became shorter while it was read")
        }
        return bytes
    }

    private static func isBelow(_ folder: String, _ path: String) -> Bool {
        Folder.part(of: path, below: folder)?.isEmpty == false
    }
}

extension Refusal {
    /// The refusal of a cancelled transfer.
    fileprivate static var unwanted: Refusal { Refusal(code: .cancelled, detail: "cancelled while it was read") }
}
