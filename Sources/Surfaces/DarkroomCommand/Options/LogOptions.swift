import ArgumentParsing
import DarkroomLogging
import DarkroomText

extension LogLevel: ExpressibleByArgument {}
extension LogFormat: ExpressibleByArgument {}

/// Options for the log on standard error.
struct LogOptions: ParsableArguments {
    @Option(
        help: "The lowest level that is logged.", valueName: "level",
        synonyms: ["v", "verbose", "q", "quiet", "debug"]) var logLevel: LogLevel = .info
    @Option(help: "The format of log lines: readable text, or one JSON object per line.", valueName: "format")
    var logFormat: LogFormat = .readable

    /// Returns a new log for the program. Must be called only once, because the log counts repeated lines.
    func log() -> StreamLog { StreamLog(logFormat) }

    /// A logger for one part of the program.
    func logger(_ label: String, to log: StreamLog) -> Logger { Logger(label: label, level: logLevel, handler: log) }
}
