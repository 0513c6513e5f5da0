import Foundation

/// Arguments declared by the properties of a type: `@Argument`, `@Option`, `@Flag` and `@OptionGroup`.
///
/// A type with options that several commands share conforms to this and is used by them as an `@OptionGroup`.
package protocol ParsableArguments: Sendable {
    /// Creates the value with its declarations; they are given their values while parsing.
    init()

    /// Checks what no single value can tell: options that exclude or need each other, ranges.
    ///
    /// Called once all values are there. Throw a ``ValidationError``; those of all groups of a command are shown together.
    func validate() throws
}

extension ParsableArguments {
    /// Finds nothing wrong.
    package func validate() throws {}

    /// The options and flags that were given, those of groups too, by their long names: `--quality`. Also what was given
    /// by an environment variable, and what was given with the value that it has anyway.
    package func givenOptions() -> [String] {
        sections().flatMap(\.definitions).filter { $0.kind != .positional && $0.isGiven() }.map(\.displayName)
    }
}

/// A command, or a group of subcommands, of a command-line program.
///
/// ```swift
/// struct Cancel: ParsableCommand {
///     static let configuration = CommandConfiguration(
///         name: "cancel", abstract: "Cancel a batch.", group: "Coordinator", examples: ["darkroom cancel holidays"])
///
///     @Argument(help: "The batch to cancel.") var batch: String
///     @Option(help: "How long to wait.") var timeout: Duration = .seconds(30)
///     @Flag(help: "Wait until nothing of it runs any more.") var wait: Bool
///
///     func run() throws { ... }
/// }
/// ```
package protocol ParsableCommand: ParsableArguments {
    /// The command's name, help and subcommands.
    static var configuration: CommandConfiguration { get }

    /// Does what the command is for, on the calling thread.
    ///
    /// Throw an ``ExitCode`` to end with that status and no further message; any other error is printed and ends
    /// with status 1, a ``ValidationError`` with 2.
    func run() throws
}

extension ParsableCommand {
    /// Does nothing: a command with subcommands is never run itself.
    package func run() throws {}

    /// Parses arguments as this command's own, without the program's name.
    ///
    /// - Throws: ``CommandExit`` with what is to be printed, for usage errors and also for help.
    package static func parse(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws(CommandExit) -> Self {
        guard let command = try CommandTree(root: Self.self).parse(arguments, environment: environment) as? Self else {
            preconditionFailure("\(configuration.name) has subcommands: parse it with parseAsRoot")
        }
        return command
    }

    /// Parses arguments as a whole program's, without its name: finds the subcommand and parses its arguments.
    ///
    /// - Throws: ``CommandExit`` with what is to be printed, for usage errors and also for help.
    package static func parseAsRoot(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws(CommandExit) -> any ParsableCommand {
        try CommandTree(root: Self.self).parse(arguments, environment: environment)
    }

    /// Runs the program with the process's arguments and environment, then ends the process.
    package static func main() -> Never {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            let command = try parseAsRoot(arguments, environment: ProcessInfo.processInfo.environment)
            try command.run()
            endProcess(.success)
        } catch {
            let end = CommandExit(error)
            // Where these take nothing, the exit code is all that is left to be said.
            try? FileHandle.standardOutput.write(contentsOf: Data(end.standardOutput.utf8))
            try? FileHandle.standardError.write(contentsOf: Data(end.standardError.utf8))
            endProcess(end.code)
        }
    }
}

/// Ends the process without the exit handlers of the libraries in it: threads of the program may still run or be ending,
/// and OpenSSL's handler frees what their own ends free, too.
package func endProcess(_ code: ExitCode) -> Never {
    fflush(nil)
    _exit(code.rawValue)
}
