/// Where the events of loggers go.
package protocol LogHandler: Sendable {
    /// Takes an event, on any thread.
    func log(_ event: LogEvent)
    /// Writes what was held back as repeats and is due; for whoever runs every few seconds.
    func writeDue()
    /// Writes all that was held back; before the program ends.
    func flush()
}

extension LogHandler {
    /// Nothing, for handlers that hold nothing back.
    package func writeDue() {}
    /// Nothing, for handlers that hold nothing back.
    package func flush() {}
}

/// Drops everything.
struct NoLog: LogHandler {
    func log(_ event: LogEvent) {}
}
