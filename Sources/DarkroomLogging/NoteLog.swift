import DarkroomConcurrency

/// Passes each event on as one readable text without its time: for programs that show it among lines of their own.
///
/// Repeats are limited, see ``Logger/log(_:_:key:_:)``.
package final class NoteLog: LogHandler {
    private let clock: LogClock
    private let note: @Sendable (String) -> Void
    private let limiter = Locked(RepeatLimiter())

    /// A log that calls `note`, on any thread.
    package init(clock: LogClock = .system, note: @escaping @Sendable (String) -> Void) {
        self.clock = clock
        self.note = note
    }

    /// Passes the event on, unless it is one repeat too many.
    package func log(_ event: LogEvent) {
        let (time, now) = (clock.now(), clock.elapsed())
        show(limiter.withLock { $0.take(event, time: time, now: now) })
    }

    /// Passes on what was left out a second ago and more.
    package func writeDue() {
        let now = clock.elapsed()
        show(limiter.withLock { $0.due(now: now) })
    }

    /// Passes on all that was left out.
    package func flush() { show(limiter.withLock { $0.all() }) }

    private func show(_ lines: [RepeatLimiter.Line]) {
        for line in lines { note(line.event.text(leftOut: line.leftOut)) }
    }
}
