/// What a part of the program logs with: a value, handed on explicitly, in the shape of swift-log's.
///
/// `logger.warning("photo failed", key: "\(batch) timeout", [.photo: .number(17), .url: .url(url)])`
package struct Logger: Sendable {
    /// Which part of the program speaks: `worker`.
    package let label: String
    /// What is less than this is not logged.
    package var level: LogLevel
    /// What is said with every line.
    package var metadata: LogMetadata
    private let handler: any LogHandler

    /// A logger whose lines go to `handler`.
    package init(label: String, level: LogLevel = .info, metadata: LogMetadata = [:], handler: any LogHandler) {
        self.label = label
        self.level = level
        self.metadata = metadata
        self.handler = handler
    }

    /// A logger that logs nothing.
    package static let silent = Logger(label: "", level: .critical, handler: NoLog())

    /// This logger, saying also `metadata` with every line.
    package func with(_ metadata: LogMetadata) -> Logger {
        var logger = self
        logger.metadata = self.metadata.adding(metadata)
        return logger
    }

    /// Lets the handler write the repeats that it held back and that are due.
    package func writeDue() { handler.writeDue() }

    /// Lets the handler write all the repeats that it held back.
    package func flush() { handler.flush() }

    /// Whether something of this level is logged.
    package func isEnabled(_ level: LogLevel) -> Bool { level >= self.level }

    /// Logs an event; any thread. May block while standard error takes nothing.
    /// - Parameters:
    ///   - level: how much it matters.
    ///   - message: What happened; constant, so that whoever searches finds all of a kind. What varies is metadata.
    ///   - key: The same message with the same key is a repeat, of which at most one a second is written. Without a key
    ///     only what has the same metadata, too, is one: give one where a flood of different lines can come.
    ///   - metadata: Not evaluated when the level is too low.
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
    /// Logs with the level `trace`.
    package func trace(
        _ message: StaticString, key: @autoclosure () -> String? = nil,
        _ metadata: @autoclosure () -> LogMetadata = [:]
    ) { log(.trace, message, key: key(), metadata()) }

    /// Logs with the level `debug`.
    package func debug(
        _ message: StaticString, key: @autoclosure () -> String? = nil,
        _ metadata: @autoclosure () -> LogMetadata = [:]
    ) { log(.debug, message, key: key(), metadata()) }

    /// Logs with the level `info`.
    package func info(
        _ message: StaticString, key: @autoclosure () -> String? = nil,
        _ metadata: @autoclosure () -> LogMetadata = [:]
    ) { log(.info, message, key: key(), metadata()) }

    /// Logs with the level `notice`.
    package func notice(
        _ message: StaticString, key: @autoclosure () -> String? = nil,
        _ metadata: @autoclosure () -> LogMetadata = [:]
    ) { log(.notice, message, key: key(), metadata()) }

    /// Logs with the level `warning`.
    package func warning(
        _ message: StaticString, key: @autoclosure () -> String? = nil,
        _ metadata: @autoclosure () -> LogMetadata = [:]
    ) { log(.warning, message, key: key(), metadata()) }

    /// Logs with the level `error`.
    package func error(
        _ message: StaticString, key: @autoclosure () -> String? = nil,
        _ metadata: @autoclosure () -> LogMetadata = [:]
    ) { log(.error, message, key: key(), metadata()) }

    /// Logs with the level `critical`.
    package func critical(
        _ message: StaticString, key: @autoclosure () -> String? = nil,
        _ metadata: @autoclosure () -> LogMetadata = [:]
    ) { log(.critical, message, key: key(), metadata()) }
}
