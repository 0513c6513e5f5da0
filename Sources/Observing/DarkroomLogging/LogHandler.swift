/// The destination of loggers' events.
package protocol LogHandler: Sendable {
    /// Handles an event. May be called on any thread.
    func log(_ event: LogEvent)
    /// Writes the held-back repeats that are due. The program must call this method every few seconds.
    func writeDue()
    /// Writes all held-back repeats. The program must call this method before it ends.
    func flush()
}

extension LogHandler {
    /// Does nothing. This is the default for handlers that do not hold repeats back.
    package func writeDue() {}
    /// Does nothing. This is the default for handlers that do not hold repeats back.
    package func flush() {}
}

/// Discards all events.
struct NoLog: LogHandler {
    func log(_ event: LogEvent) {}
}
