import DarkroomModel
import DarkroomText
import Foundation

/// The bytes of a list, which can be read more than once.
protocol ListBytes: AnyObject {
    /// Reads bytes into the buffer, and returns their number; 0 at the end of the list. Blocks until bytes are
    /// available.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(PhotoListError) -> Int

    /// Returns true if no bytes arrive within half a second. Blocks for at most half a second.
    func hasPaused() -> Bool

    func rewind() throws(PhotoListError)
}

final class FileBytes: ListBytes {
    private let descriptor: Int32
    private let ownsDescriptor: Bool
    /// The offset at which reading began, which may be positive for standard input; negative for a pipe or a terminal.
    private let start: off_t

    init(path: String) throws(PhotoListError) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        let code = errno
        ownsDescriptor = true
        start = lseek(descriptor, 0, SEEK_CUR)
        guard descriptor >= 0 else {
            if code == ENOENT || code == ENOTDIR {
                throw PhotoListError(
                    .notFound, "there is no such file; give a file, a folder of photos, a URL, or - for standard input")
            }
            throw PhotoListError(
                .unreadable, "it cannot be opened (\(systemErrorText(code))); check its permissions")
        }
    }

    /// Uses a descriptor that is already open, and does not close it.
    init(descriptor: Int32) {
        self.descriptor = descriptor
        ownsDescriptor = false
        start = lseek(descriptor, 0, SEEK_CUR)
    }

    deinit {
        if ownsDescriptor { close(descriptor) }
    }

    /// Whether the bytes can be read again; false for a pipe or a terminal.
    var canRewind: Bool { start >= 0 }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(PhotoListError) -> Int {
        while true {
            let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR else {
                throw PhotoListError(.unreadable, "reading it failed (\(systemErrorText()))")
            }
        }
    }

    func hasPaused() -> Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return !canRewind && poll(&waiting, 1, 500) == 0
    }

    func rewind() throws(PhotoListError) {
        guard lseek(descriptor, start, SEEK_SET) == start else {
            throw PhotoListError(.unreadable, "it cannot be read again (\(systemErrorText()))")
        }
    }
}
