import DarkroomModel
import DarkroomText
import Foundation

/// Bytes that come once, made readable again: what was read is kept in a file without a name.
///
/// That file lies below `TMPDIR`, or in `/var/tmp`, which unlike `/tmp` is never in memory; it goes with the process.
final class SpooledBytes: ListBytes {
    private let source: any ListBytes
    private let spool: Int32
    private var spooledBytes = 0
    private var position = 0

    /// Keeps what is read from `source`.
    init(_ source: any ListBytes) throws(PhotoListError) {
        self.source = source
        let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/var/tmp"
        var template = Array("\(folder)/darkroom-list-XXXXXX".utf8CString)
        spool = mkstemp(&template)
        guard spool >= 0 else {
            throw PhotoListError(
                .unreadable,
                "no file can be made in \(folder) to keep it while it is fed (\(systemErrorText())); "
                    + "set TMPDIR to a folder with room")
        }
        unlink(template)
        _ = fcntl(spool, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(spool) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(PhotoListError) -> Int {
        if position < spooledBytes {
            let count = pread(spool, buffer.baseAddress, min(buffer.count, spooledBytes - position), position)
            guard count > 0 else { throw failure("reading back what was kept of it") }
            position += count
            return count
        }
        let count = try source.read(into: buffer)
        var written = 0
        while written < count {  // so the buffer is not empty and has a base
            let step = pwrite(spool, buffer.baseAddress! + written, count - written, spooledBytes + written)
            guard step > 0 else { throw failure("keeping it while it is fed") }
            written += step
        }
        spooledBytes += count
        position = spooledBytes
        return count
    }

    func hasPaused() -> Bool { position == spooledBytes && source.hasPaused() }

    func rewind() { position = 0 }

    private func failure(_ attempt: String) -> PhotoListError {
        PhotoListError(
            .unreadable,
            "\(attempt) failed (\(systemErrorText())); set TMPDIR to a folder with room, or give the list as a file"
        )
    }
}
