import Glibc

/// The time at which the content of a file was last changed.
package struct FileTime: Sendable, Equatable {
    /// `UTIME_OMIT` of utimensat(2), which Swift does not import: the time is not changed.
    private static let unchanged = (1 << 30) - 2

    /// Since 1970.
    package let seconds: Int
    /// 0 to 999,999,999, after ``seconds``.
    package let nanoseconds: Int

    package init(seconds: Int, nanoseconds: Int = 0) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// The time of a file with this status.
    package init(of status: stat) {
        self.init(seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }

    /// Sets the time of an open file. Later writes change it again. A file system that cannot store the time keeps its
    /// own: a photo without its time is better than no photo.
    package func set(on descriptor: Int32) {
        let times = [
            timespec(tv_sec: 0, tv_nsec: Self.unchanged), timespec(tv_sec: seconds, tv_nsec: nanoseconds),
        ]
        _ = futimens(descriptor, times)
    }
}
