import ArgumentParsing
import Darkroom
import DarkroomText

/// The behaviour of a worker for photos whose files do not fit on the disk.
enum WhenDiskFull: String, CaseIterable, ExpressibleByArgument {
    /// The photos wait until the disk has room. Without this wait, one full disk would make all remaining photos of a
    /// long list fail.
    case wait
    /// The photos fail with the reason `disk-full`.
    case fail
}

/// Options for writing to disk.
struct DiskOptions: WorkerOptions {
    @Option(
        help: """
            What to do with photos when the output disk is full. wait: wait until there is space again, and let other \
            workers take the photos. fail: the photos fail as disk-full; a long list can then fail in seconds.
            """,
        valueName: "action")
    var whenDiskFull: WhenDiskFull = .wait
    @Flag(
        name: .customLong("no-fsync"),
        help: """
            Report photos before their files are on the disk. This saves time on slow disks, but after a power cut, \
            files of photos that Redis counts as filtered can be missing, without an error.
            """)
    var noFsync: Bool

    func fill(_ configuration: inout PhotoWorkerConfiguration) {
        configuration.waitsForDiskSpace = whenDiskFull == .wait
        configuration.isDurable = !noFsync
    }
}
