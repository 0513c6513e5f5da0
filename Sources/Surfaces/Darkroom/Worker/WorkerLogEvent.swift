import DarkroomLogging

/// A line of a worker's log.
public struct WorkerLogEvent: Sendable, CustomStringConvertible {
    /// The level of a log line, as in swift-log.
    public enum Level: String, Sendable, CaseIterable {
        /// Each step of a photo.
        case trace
        /// Details for debugging.
        case debug
        /// Normal events.
        case info
        /// Normal events that deserve attention.
        case notice
        /// A failure after which work continues.
        case warning
        /// A failure that a user must fix.
        case error
    }

    /// The level.
    public let level: Level
    /// The event, as a constant text.
    public let message: String
    /// The complete line with level, message and values:
    /// `warning worker: photo failed batch=... photo=17 reason=timeout`.
    /// URLs in the line contain no user, password or query.
    public let description: String

    init(_ event: LogEvent) {
        level = Level(rawValue: event.level.rawValue) ?? .notice
        message = event.message
        description = event.text()
    }
}

/// Passes the log of a worker to a function.
struct FunctionLog: LogHandler {
    let onEvent: @Sendable (WorkerLogEvent) -> Void

    func log(_ event: LogEvent) { onEvent(WorkerLogEvent(event)) }
}
