import DarkroomText
import Glibc

/// Lets any thread wake a waiting thread. The waiting thread can also wait for a file descriptor at the same time.
package final class Wakeup: Sendable {
    private let readEnd: Int32
    private let writeEnd: Int32

    /// Creates a pipe. If no file descriptors are left, ends the program, because it cannot work without the pipe.
    package init() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { fatalError("pipe: \(systemErrorText())") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Ends the current or next call of ``wait(for:events:until:)``.
    package func signal() {
        var byte: UInt8 = 1
        _ = write(writeEnd, &byte, 1)  // if the pipe is full, earlier bytes wake the thread
    }

    /// Blocks until `descriptor` is ready for `events`, ``signal()`` is called, or `deadline` has passed. A negative
    /// `descriptor` is ignored.
    /// - Returns: whether `descriptor` is ready, has an error, or was closed by the peer.
    @discardableResult
    package func wait(
        for descriptor: Int32 = -1, events: Int16 = 0, until deadline: ContinuousClock.Instant? = nil
    ) -> Bool {
        var descriptors = [
            pollfd(fd: descriptor, events: events, revents: 0),
            pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&descriptors, 2, deadline.map(Self.milliseconds(until:)) ?? -1)
        if descriptors[1].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 64)
            while read(readEnd, &bytes, bytes.count) == bytes.count {}
        }
        return descriptors[0].revents != 0
    }

    /// The timeout for poll(2), rounded up so that the deadline has passed when poll(2) returns.
    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let left = ContinuousClock.now.duration(to: deadline)
        return left <= .zero ? 0 : Int32(clamping: min(left.wholeMilliseconds, Int.max - 1) + 1)
    }
}
