import DarkroomConcurrency
import Glibc

/// Writes each event as one line with one write(2), so that the lines of several threads and processes never mix.
///
/// Repeats are limited, see ``Logger/log(_:_:key:_:)``. What cannot be written is dropped, and what nobody takes (a pipe that
/// is not read, a terminal that was stopped) is dropped and counted: a log must not stop the work, nor a closed pipe end the
/// process.
package final class StreamLog: LogHandler {
    private let descriptor: Int32
    private let format: LogFormat
    private let clock: LogClock
    private let limiter = Locked(RepeatLimiter())
    /// Lines that nobody took since the last that was written.
    private let dropped = Locked(0)

    /// How long a line waits for whoever takes it, in ms; the next ones do not wait.
    private let patience: Int32

    /// A log on a descriptor that stays open; standard error unless told.
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

    /// Writes the event, unless it is one repeat too many.
    package func log(_ event: LogEvent) {
        let (time, now) = (clock.now(), clock.elapsed())
        write(limiter.withLock { $0.take(event, time: time, now: now) })
    }

    /// Writes what was left out a second ago and more; for whoever runs every few seconds, since without a further event
    /// nothing else does.
    package func writeDue() {
        let now = clock.elapsed()
        write(limiter.withLock { $0.due(now: now) })
    }

    /// Writes all that was left out; before the program ends.
    package func flush() { write(limiter.withLock { $0.all() }) }

    private func write(_ lines: [RepeatLimiter.Line]) {
        guard !lines.isEmpty else { return }
        // One thread at a time: what it found room for is its own.
        dropped.withLock { dropped in
            for line in lines {
                if isTaking(within: dropped == 0 ? patience : 0) {
                    if dropped > 0 { write(Self.notice(of: dropped), time: line.time) }
                    dropped = 0
                }
                if isTaking(within: 0) {
                    write(line.event, time: line.time, leftOut: line.leftOut)
                } else {
                    dropped += 1
                }
            }
        }
    }

    /// Whether a line can be written without waiting for whoever reads: a pipe takes a whole one then, see
    /// ``LogEvent/maxLineBytes``.
    private func isTaking(within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&entry, 1, milliseconds) != 0
    }

    private static func notice(of dropped: Int) -> LogEvent {
        LogEvent(
            level: .warning, label: "log", message: "nobody read the log, lines were dropped",
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

    /// Runs `body` so that a pipe which nobody reads gives an error and no SIGPIPE, for this thread alone.
    private func withoutBrokenPipes(_ body: () -> Void) {
        var pipe = sigset_t()
        var before = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
        body()
        guard sigismember(&before, SIGPIPE) == 0 else { return }
        var none = timespec()
        while sigtimedwait(&pipe, nil, &none) == -1, errno == EINTR {}  // what is pending now came of `body`
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
