/// The logger of one part of the program: a value that is passed explicitly, similar to `Logger` in swift-log.
///
/// `logger.warning("photo failed", key: "\(batch) timeout", [.photo: .number(17), .url: .url(url)])`
package struct Logger: Sendable {
    /// The part of the program, for example `worker`.
    package let label: String
    /// Events below this level are not logged.
    package var level: LogLevel
    package var metadata: LogMetadata
    private let handler: any LogHandler

    package init(label: String, level: LogLevel = .info, metadata: LogMetadata = [:], handler: any LogHandler) {
        self.label = label
        self.level = level
        self.metadata = metadata
        self.handler = handler
    }

    /// A logger that logs nothing.
    package static let silent = Logger(label: "", level: .error, handler: NoLog())

    /// Returns this logger with additional `metadata` for every event.
    package func with(_ metadata: LogMetadata) -> Logger {
        var logger = self
        logger.metadata = self.metadata.adding(metadata)
        return logger
    }

    /// Writes the held-back repeats that are due.
    package func writeDue() { handler.writeDue() }

    /// Writes all held-back repeats.
    package func flush() { handler.flush() }

    /// Whether events of this level are logged.
    package func isEnabled(_ level: LogLevel) -> Bool { level >= self.level }

    /// Logs an event. May be called on any thread. May block briefly if standard error accepts no data.
    /// - Parameters:
    ///   - level: The severity.
    ///   - message: The event as constant text, so that a search finds all such events. Variable values belong in the
    ///     metadata.
    ///   - key: An event with the same message and key is a repeat; at most one repeat per second is written. Without a
    ///     key, only events with the same metadata are repeats. Give a key if many events with different metadata can
    ///     occur.
    ///   - metadata: Evaluated only if the level is enabled.
    package func log(
        _ level: LogLevel, _ message: StaticString, key: @autoclosure () -> String? = nil,
        _ metadata: @autoclosure () -> LogMetadata = [:]
    ) {
        guard isEnabled(level) else { return }
        handler.log(
            LogEvent(
                level: level, label: label, message: message.description,
                metadata: self.metadata.adding(metadata()), key: key().map(LogText.cut)))
    }
}

extension Logger {
    package func trace(
        _ message: StaticString, key: @autoclosure () -> String? = nil,
        _ metadata: @autoclosure () -> LogMetadata = [:]
    ) { log(.trace, message, key: key(), metadata()) }

    package func debug(
        _ message: StaticString, key: @autoclosure () -> String? = nil,
        _ metadata: @autoclosure () -> LogMetadata = [:]
    ) { log(.debug, message, key: key(), metadata()) }

    package func info(
        _ message: StaticString, key: @autoclosure () -> String? = nil,
        _ metadata: @autoclosure () -> LogMetadata = [:]
    ) { log(.info, message, key: key(), metadata()) }

    package func notice(
        _ message: StaticString, key: @autoclosure () -> String? = nil,
        _ metadata: @autoclosure () -> LogMetadata = [:]
    ) { log(.notice, message, key: key(), metadata()) }

    package func warning(
        _ message: StaticString, key: @autoclosure () -> String? = nil,
        _ metadata: @autoclosure () -> LogMetadata = [:]
    ) { log(.warning, message, key: key(), metadata()) }

    package func error(
        _ message: StaticString, key: @autoclosure () -> String? = nil,
        _ metadata: @autoclosure () -> LogMetadata = [:]
    ) { log(.error, message, key: key(), metadata()) }
}
