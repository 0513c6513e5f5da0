import DarkroomConcurrency
import Glibc

/// Writes each event as one line with one write(2), so that the lines of several threads and processes never mix.
///
/// Repeats are limited, see ``Logger/log(_:_:key:_:)``. What cannot be written is dropped: a log must not stop the work,
/// nor a closed pipe end the process.
public final class StreamLog: LogHandler {
    private let descriptor: Int32
    private let format: LogFormat
    private let clock: LogClock
    private let limiter = Locked(RepeatLimiter())

    /// A log on a descriptor that stays open; standard error unless told.
    public init(_ format: LogFormat = .readable, descriptor: Int32 = STDERR_FILENO, clock: LogClock = .system) {
        self.format = format
        self.descriptor = descriptor
        self.clock = clock
    }

    /// Writes the event, unless it is one repeat too many.
    public func log(_ event: LogEvent) {
        let (time, now) = (clock.now(), clock.elapsed())
        write(limiter.withLock { $0.take(event, time: time, now: now) })
    }

    /// Writes what was left out a second ago and more; for whoever runs every few seconds, since without a further event
    /// nothing else does.
    public func writeDue() {
        let now = clock.elapsed()
        write(limiter.withLock { $0.due(now: now) })
    }

    /// Writes all that was left out; before the program ends.
    public func flush() { write(limiter.withLock { $0.all() }) }

    private func write(_ lines: [RepeatLimiter.Line]) {
        for line in lines {
            let bytes = line.event.line(format, time: line.time, leftOut: line.leftOut)
            withoutBrokenPipes { writeAll(bytes) }
        }
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
