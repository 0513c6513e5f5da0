import ArgumentParsing
import Darkroom
import DarkroomWorker

extension WhenDiskFull: ExpressibleByArgument {}

/// How a worker treats the disk that it writes to.
struct DiskOptions: ParsableArguments {
    @Option(
        help: """
            What becomes of photos when their disk is full: wait until there is room again, while others may take them, since \
            a full disk is a state of the machine and a long list would fail in seconds because of it; or fail, as disk-full.
            """,
        valueName: "action")
    var whenDiskFull: WhenDiskFull = .wait
    @Flag(
        name: .customLong("no-fsync"),
        help: """
            Report photos before their files are on the disk. Saves time on slow disks; a power cut can then lose files that \
            Redis counts as filtered, and nothing finds out.
            """)
    var noFsync: Bool

    /// Puts these into what a worker may do.
    func apply(to configuration: inout WorkerConfiguration) {
        configuration.whenDiskFull = whenDiskFull
        configuration.isDurable = !noFsync
    }
}
