import DarkroomCoding
import DarkroomFiles
import DarkroomHTTP
import DarkroomStorage
import Foundation

/// An open file of a photo. Used by one thread at a time.
final class OpenPhoto: @unchecked Sendable {
    /// The path in its folder.
    let path: String
    /// In bytes.
    let size: Int
    /// A text that changes when the file is replaced or written to.
    let version: String
    private var descriptor: Int32

    /// Takes over the descriptor.
    init(path: String, _ file: StoredFile) {
        self.path = path
        size = file.size
        version = Hexadecimal.text(SHA256Digest.hash(of: Array(file.version.utf8)).prefix(16).map(\.self))
        descriptor = file.descriptor
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Reads the file from its beginning; it must have at most `maxBytes` bytes.
    func bytes(maxBytes: Int) throws(SystemFailure) -> [UInt8] {
        guard size <= maxBytes else { throw SystemFailure("read", EFBIG) }
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw SystemFailure("read", errno) }
        return try readAll(from: descriptor, size: size)
    }

    /// Reads the first bytes of the file.
    func start() throws(SystemFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count >= 0 else { throw SystemFailure("read", errno) }
        return Array(bytes.prefix(count))
    }

    /// Hands the descriptor over to a response.
    func body() -> FileBody {
        defer { descriptor = -1 }
        return FileBody(descriptor: descriptor, size: size)
    }
}
