import Foundation

/// Lets any thread wake the one that waits for a socket.
final class Wakeup: Sendable {
    private let readEnd: Int32
    private let writeEnd: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        // Fails only when the process has no descriptors left, and then nothing here can work.
        guard pipe(&ends) == 0 else { fatalError("pipe: \(String(cString: strerror(errno)))") }
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

    /// Ends the present or the next ``wait(for:events:until:)``.
    func signal() {
        var byte: UInt8 = 1
        _ = write(writeEnd, &byte, 1)  // a full pipe wakes as well
    }

    /// Waits until `socket` (none if negative) is ready for `events`, somebody signals, or `deadline` passes.
    func wait(for socket: Int32 = -1, events: Int16 = 0, until deadline: ContinuousClock.Instant? = nil) {
        var descriptors = [
            pollfd(fd: socket, events: events, revents: 0),
            pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&descriptors, 2, deadline.map(Self.milliseconds(until:)) ?? -1)
        guard descriptors[1].revents != 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(readEnd, &bytes, bytes.count) == bytes.count {}
    }

    /// For poll(2): rounded up, so that the deadline has passed afterwards.
    private static func milliseconds(until deadline: ContinuousClock.Instant) -> Int32 {
        let left = ContinuousClock.now.duration(to: deadline)
        return left <= .zero ? 0 : Int32(clamping: left.wholeMilliseconds + 1)
    }
}

extension Duration {
    /// Milliseconds, rounded down.
    var wholeMilliseconds: Int {
        Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
