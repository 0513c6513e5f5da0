import DarkroomLogging

/// A line of a worker's log.
public struct WorkerLogEvent: Sendable, CustomStringConvertible {
    /// How much a line matters, as in swift-log.
    public enum Level: String, Sendable, CaseIterable {
        /// Each step of a photo.
        case trace
        /// What helps to find a fault.
        case debug
        /// The regular course of things.
        case info
        /// Regular, but worth a look.
        case notice
        /// Something failed, and work goes on.
        case warning
        /// Something failed that somebody has to mend.
        case error
        /// Nothing goes on until somebody mends it.
        case critical
    }

    /// How much it matters.
    public let level: Level
    /// What happened, in constant words.
    public let message: String
    /// The line for people, with level, message and everything that varies:
    /// `warning worker: photo failed batch=... photo=17 reason=timeout`. URLs in it have no user, password and query.
    public let description: String

    init(_ event: LogEvent) {
        level = Level(rawValue: event.level.rawValue) ?? .notice
        message = event.message
        description = event.text()
    }
}

/// Passes the log of a worker on to a function.
struct FunctionLog: LogHandler {
    let onEvent: @Sendable (WorkerLogEvent) -> Void

    func log(_ event: LogEvent) { onEvent(WorkerLogEvent(event)) }
}
