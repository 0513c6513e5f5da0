import DarkroomFiles
import DarkroomModel
import DarkroomText
import Foundation

/// Copies bytes that arrive only once to an unlinked temporary file, so that they can be read again.
///
/// The file is in `TMPDIR`, or by default in `/var/tmp`, which, unlike `/tmp`, is never in memory. The system deletes
/// the file when the process ends.
final class SpooledBytes: ListBytes {
    private let source: any ListBytes
    private let spool: Int32
    private var spooledBytes = 0
    private var position = 0

    init(_ source: any ListBytes) throws(PhotoListError) {
        self.source = source
        let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/var/tmp"
        var template = Array("\(folder)/darkroom-list-XXXXXX".utf8CString)
        spool = mkstemp(&template)
        guard spool >= 0 else {
            throw PhotoListError(
                .unreadable,
                "no temporary file for it can be created in \(folder) (\(systemErrorText())); "
                    + "set TMPDIR to a folder with free space")
        }
        unlink(template)
        _ = fcntl(spool, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(spool) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(PhotoListError) -> Int {
        if position < spooledBytes {
            let count = pread(spool, buffer.baseAddress, min(buffer.count, spooledBytes - position), position)
            guard count > 0 else { throw failure("reading its temporary file") }
            position += count
            return count
        }
        let count = try source.read(into: buffer)
        do throws(SystemFailure) {
            // All bytes are appended, because they are read with pread(2), which does not move the position of the file.
            try writeAll(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: spool)
        } catch {
            throw failure("writing its temporary file", error.text)
        }
        spooledBytes += count
        position = spooledBytes
        return count
    }

    func hasPaused() -> Bool { position == spooledBytes && source.hasPaused() }

    func rewind() { position = 0 }

    private func failure(_ attempt: String, _ reason: String = systemErrorText()) -> PhotoListError {
        PhotoListError(
            .unreadable,
            "\(attempt) failed (\(reason)); set TMPDIR to a folder with free space, or give the list as a file"
        )
    }
}
