import DarkroomConcurrency

/// Passes each event as readable text, excluding its time, to a function that shows events between other output.
///
/// Repeats are limited, see ``Logger/log(_:_:key:_:)``.
package final class NoteLog: LogHandler {
    private let clock: LogClock
    private let note: @Sendable (String) -> Void
    private let limiter = Locked(RepeatLimiter())

    /// Creates a log that calls `note` for each event; the call may come from any thread.
    package init(clock: LogClock = .system, note: @escaping @Sendable (String) -> Void) {
        self.clock = clock
        self.note = note
    }

    /// Passes the event on, unless it repeats an event more often than the limit allows.
    package func log(_ event: LogEvent) {
        let (time, now) = (clock.now(), clock.elapsed())
        show(limiter.withLock { $0.take(event, time: time, now: now) })
    }

    /// Passes on the repeats that were held back for at least 1 s.
    package func writeDue() {
        let now = clock.elapsed()
        show(limiter.withLock { $0.due(now: now) })
    }

    package func flush() { show(limiter.withLock { $0.all() }) }

    private func show(_ lines: [RepeatLimiter.Line]) {
        for line in lines { note(line.event.text(leftOut: line.leftOut)) }
    }
}
