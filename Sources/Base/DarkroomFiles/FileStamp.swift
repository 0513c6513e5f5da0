import Glibc

/// The values of a file's status that change when the file is replaced or written to.
package struct FileStamp: Sendable, Equatable {
    package let facts: [Int]

    package init(of status: stat) {
        facts = [
            Int(status.st_dev), Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
            status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
        ]
    }

    /// Reads the status of the file or folder at `path`. Returns nil if there is no file or folder.
    package init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(of: status)
    }
}
