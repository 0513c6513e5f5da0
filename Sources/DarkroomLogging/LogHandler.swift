/// Where the events of loggers go.
public protocol LogHandler: Sendable {
    /// Takes an event, on any thread.
    func log(_ event: LogEvent)
}

/// Drops everything.
struct NoLog: LogHandler {
    func log(_ event: LogEvent) {}
}
