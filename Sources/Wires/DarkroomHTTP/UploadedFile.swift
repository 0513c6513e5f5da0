import DarkroomFiles
internal import Glibc

/// The body of a request in a file. The file is removed when the last reference to this object is released.
package final class UploadedFile: @unchecked Sendable {  // written on the server's thread before it is handed out
    package let path: String
    private var descriptor: Int32
    /// The size in bytes.
    package private(set) var size = 0
    private let folder: String

    /// Creates a file in `folder`; nil with `errno` on failure.
    init?(in folder: String) {
        self.folder = folder
        path = folder + "/upload-" + String(UInt64.random(in: 0 ... .max), radix: 16)
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor < 0 { return nil }
    }

    /// Creates a file in the same folder; nil with `errno` on failure.
    convenience init?(beside other: UploadedFile) { self.init(in: other.folder) }

    deinit {
        close()
        unlink(path)
    }

    /// Appends bytes; returns false with `errno` on failure.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        do throws(SystemFailure) {
            try writeAll(bytes, to: descriptor)
            size += bytes.count
            return true
        } catch {
            errno = error.error
            return false
        }
    }

    /// Closes the file for writing; its path stays valid.
    func close() {
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }
}
