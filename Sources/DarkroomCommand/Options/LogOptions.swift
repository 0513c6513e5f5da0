import ArgumentParsing
import DarkroomLogging

extension LogLevel: ExpressibleByArgument {}
extension LogFormat: ExpressibleByArgument {}

/// What is logged to standard error, and how it looks.
struct LogOptions: ParsableArguments {
    @Option(help: "The least that is logged.", valueName: "level") var logLevel: LogLevel = .info
    @Option(help: "How lines look: for people, or one JSON object a line.", valueName: "format")
    var logFormat: LogFormat = .readable

    /// Where lines go; one for the whole program, since it also counts repeats.
    func log() -> StreamLog { StreamLog(logFormat) }

    /// A logger for one part of the program.
    func logger(_ label: String, to log: StreamLog) -> Logger { Logger(label: label, level: logLevel, handler: log) }
}
