import ArgumentParsing
import Darkroom
import DarkroomText
import DarkroomWorker

extension WhenDiskFull: ExpressibleByArgument {}

/// Options for writing to disk.
struct DiskOptions: ParsableArguments {
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

    func apply(to configuration: inout WorkerConfiguration) {
        configuration.whenDiskFull = whenDiskFull
        configuration.isDurable = !noFsync
    }
}
