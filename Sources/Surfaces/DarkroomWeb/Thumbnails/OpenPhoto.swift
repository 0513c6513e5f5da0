import DarkroomCoding
import DarkroomFiles
import DarkroomHTTP
import Foundation

/// An open file of a photo. Used by one thread at a time.
final class OpenPhoto: @unchecked Sendable {
    /// The path in its folder.
    let path: String
    /// In bytes.
    let size: Int
    private var descriptor: Int32

    /// Takes over the descriptor.
    init(path: String, descriptor: Int32, size: Int) {
        self.path = path
        self.descriptor = descriptor
        self.size = size
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// A text that changes when the file is replaced or written to.
    func version() throws(SystemFailure) -> String {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemFailure("look at", errno) }
        let facts = FileStamp(of: status).facts.map(String.init).joined(separator: " ")
        return Hexadecimal.text(SHA256Digest.hash(of: Array(facts.utf8)).prefix(16).map(\.self))
    }

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
