import Foundation

/// A folder that files are written to, perhaps on a share that is not always there.
struct OutputPlace: Hashable, Sendable {
    /// The absolute path.
    let folder: String
    /// What must be seen in it, relative to it, before anything is written there: the mount point of a share that is not
    /// mounted stays empty. Nil when the folder itself is all there is to see.
    let sign: String?

    /// The absolute path of what must be seen.
    var signPath: String { sign.map { folder + "/" + $0 } ?? folder }

    /// Opens the folder when the sign is seen in it. All names below are looked up from there: whatever is mounted or
    /// unmounted meanwhile, files go where the sign was.
    /// - Throws: what the system said.
    func open() throws(SystemFailure) -> Int32 {
        let descriptor = Foundation.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure("see", errno) }
        guard let sign, faccessat(descriptor, sign, F_OK, 0) != 0 else { return descriptor }
        let error = errno
        close(descriptor)
        throw SystemFailure("see", error)
    }

    /// A call of the system that failed.
    struct SystemFailure: Error, Equatable {
        /// What was attempted: a verb.
        let attempted: String
        /// The system's number.
        let error: Int32

        init(_ attempted: String, _ error: Int32) {
            self.attempted = attempted
            self.error = error
        }

        /// What the system calls it.
        var text: String { String(cString: strerror(error)) }
    }
}

/// The folder of a batch's manifest, held open from the time before anything is written for operations of the batch until
/// they have been reported.
///
/// Whoever opens a file system after it lost data is not told when somebody else has been told meanwhile, see errseq(3) of
/// the kernel and syncfs(2): so it is opened before.
final class OpenFolder: Sendable {
    /// Of the folder.
    let descriptor: Int32
    /// Which file system it is on.
    let device: dev_t
    /// The smaller, the earlier it was opened.
    let opened: ContinuousClock.Instant
    private let node: ino_t
    private let path: String

    /// Opens a folder.
    /// - Throws: what the system said.
    init(_ path: String) throws(OutputPlace.SystemFailure) {
        opened = .now
        self.path = path
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw OutputPlace.SystemFailure("open", errno) }
        var status = stat()
        // Of a descriptor that was opened right before it fails on file systems that are going away only: as device 0 it is
        // taken for another one at the next look.
        (device, node) = fstat(descriptor, &status) == 0 ? (status.st_dev, status.st_ino) : (0, 0)
    }

    deinit { close(descriptor) }

    /// Whether its path still shows this folder, and not another one that was mounted there since.
    var isStillThere: Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_dev == device && status.st_ino == node
    }
}
