import Glibc

/// The time at which the content of a file was last changed.
package struct FileTime: Sendable, Equatable {
    /// `UTIME_OMIT` of utimensat(2), which Swift does not import: the time is not changed.
    private static let unchanged = (1 << 30) - 2

    /// The whole seconds since 1970.
    package let seconds: Int
    /// The nanoseconds to add to ``seconds``: 0 to 999,999,999.
    package let nanoseconds: Int

    package init(seconds: Int, nanoseconds: Int = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// The time of a file with this status.
    package init(of status: stat) {
        self.init(seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }

    /// Sets the time of an open file. Later writes change the time again. Ignores errors: if the file system cannot
    /// store the time, the photo is kept with the current time.
    package func set(on descriptor: Int32) {
        let times = [
            timespec(tv_sec: 0, tv_nsec: Self.unchanged), timespec(tv_sec: seconds, tv_nsec: nanoseconds),
        ]
        _ = futimens(descriptor, times)
    }
}
