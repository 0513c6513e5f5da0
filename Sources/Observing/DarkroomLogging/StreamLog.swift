import DarkroomConcurrency
import Glibc

/// Writes each event as one line with one write(2), so that the lines of several threads and processes never mix.
///
/// Repeats are limited, see ``Logger/log(_:_:key:_:)``. Lines that cannot be written are dropped. Lines are also
/// dropped, and counted, while the reader accepts no data (a full pipe, a stopped terminal). Therefore a log without a
/// reader does not stop the program, and a closed pipe does not end the process.
package final class StreamLog: LogHandler {
    private let descriptor: Int32
    private let format: LogFormat
    private let clock: LogClock
    private let limiter = Locked(RepeatLimiter())
    /// The number of lines dropped since the last written line.
    private let dropped = Locked(0)

    /// The time in ms for which a line waits for the reader. After a dropped line, the next lines do not wait.
    private let patience: Int32

    /// Creates a log that writes to a file descriptor, which must stay open; by default standard error.
    package convenience init(
        _ format: LogFormat = .readable, descriptor: Int32 = STDERR_FILENO, clock: LogClock = .system
    ) {
        self.init(format, descriptor: descriptor, clock: clock, patience: 1000)
    }

    init(_ format: LogFormat, descriptor: Int32, clock: LogClock = .system, patience: Int32) {
        self.format = format
        self.patience = patience
        self.descriptor = descriptor
        self.clock = clock
    }

    /// Writes the event, unless it repeats an event more often than the limit allows.
    package func log(_ event: LogEvent) {
        let (time, now) = (clock.now(), clock.elapsed())
        write(limiter.withLock { $0.take(event, time: time, now: now) })
    }

    /// Writes the repeats that were held back for at least 1 s. Must be called every few seconds; otherwise held-back
    /// repeats are written only together with later events.
    package func writeDue() {
        let now = clock.elapsed()
        write(limiter.withLock { $0.due(now: now) })
    }

    /// Writes all held-back repeats. Must be called before the program ends.
    package func flush() { write(limiter.withLock { $0.all() }) }

    private func write(_ lines: [RepeatLimiter.Line]) {
        guard !lines.isEmpty else { return }
        // Only one thread writes at a time, so that no other thread fills the free space that this thread has found.
        dropped.withLock { dropped in
            for line in lines {
                if canWrite(within: dropped == 0 ? patience : 0) {
                    if dropped > 0 { write(Self.notice(of: dropped), time: line.time) }
                    dropped = 0
                }
                if canWrite(within: 0) {
                    write(line.event, time: line.time, leftOut: line.leftOut)
                } else {
                    dropped += 1
                }
            }
        }
    }

    /// Waits until a line can be written without blocking; returns false after the timeout. If poll(2) reports that a
    /// pipe is writable, the pipe accepts a whole line, see ``LogEvent/maxLineBytes``.
    private func canWrite(within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, milliseconds) != 0
    }

    private static func notice(of dropped: Int) -> LogEvent {
        LogEvent(
            level: .warning, label: "log", message: "the log was not read, lines were dropped",
            metadata: ["lines": .number(dropped)], key: nil)
    }

    private func write(_ event: LogEvent, time: Int, leftOut: Int = 0) {
        let bytes = event.line(format, time: time, leftOut: leftOut)
        withoutBrokenPipes { writeAll(bytes) }
    }

    private func writeAll(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 { rest = rest.dropFirst(written) } else if errno != EINTR { return }
        }
    }

    /// Runs `body` with SIGPIPE blocked on this thread, so that a write to a closed pipe returns an error.
    private func withoutBrokenPipes(_ body: () -> Void) {
        var pipe = sigset_t()
        var before = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
        body()
        guard sigismember(&before, SIGPIPE) == 0 else { return }
        var none = timespec()
        while sigtimedwait(&pipe, nil, &none) == -1, errno == EINTR {}  // a pending signal was caused by `body`
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
