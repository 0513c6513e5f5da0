import Foundation

/// Arguments declared by the properties of a type: `@Argument`, `@Option`, `@Flag` and `@OptionGroup`.
///
/// A type with options that several commands share conforms to this protocol; the commands use the type as an
/// `@OptionGroup`.
package protocol ParsableArguments: Sendable {
    /// Creates an instance with its declarations. The parser then sets the declared values.
    init()

    /// Checks the values together: ranges, and options that exclude or need each other.
    ///
    /// The parser calls this method after it has parsed all values. If a value is wrong, throw a ``ValidationError``;
    /// the errors of all groups of a command are shown together.
    func validate() throws

    /// Advice for an option that the command does not have; nil for none.
    ///
    /// - Parameters:
    ///   - name: The name without dashes.
    ///   - value: The word after the option, or the text after its `=`; nil if there is neither.
    func advice(onUnknownOption name: String, value: String?) -> OptionAdvice?
}

/// Advice for an option that a command does not have.
package struct OptionAdvice: Sendable {
    /// The text, without a full stop, that says what to write instead.
    let text: String
    /// Whether the word after the option is its value.
    let usesValue: Bool

    package init(_ text: String, usesValue: Bool) {
        self.text = text
        self.usesValue = usesValue
    }
}

extension ParsableArguments {
    package func validate() throws {}

    package func advice(onUnknownOption name: String, value: String?) -> OptionAdvice? { nil }

    /// The long names of all options and flags, including the options of groups: `--quality`.
    package func optionNames() -> [String] {
        sections().flatMap(\.definitions).filter { $0.kind != .positional }.map(\.displayName)
    }

    /// The long names of the given options and flags, including the options of groups: `--quality`. An option also
    /// counts as given if an environment variable sets the option, or if the given value equals the default.
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
///     @Flag(help: "Return when no cancelled photo is running.") var wait: Bool
///
///     func run() throws { ... }
/// }
/// ```
package protocol ParsableCommand: ParsableArguments {
    /// The command's name, help and subcommands.
    static var configuration: CommandConfiguration { get }

    /// Runs the command on the calling thread.
    ///
    /// Throw an ``ExitCode`` to end with that status and no further message. Any other error is printed; the program
    /// then ends with status 1, or 2 for a ``ValidationError``.
    func run() throws

    /// Advice for a word that is not the name of a subcommand; nil for none.
    ///
    /// - Parameter arguments: The words after `word`.
    static func advice(onUnknownCommand word: String, arguments: [String]) -> String?

    /// Advice for a command line with more values than the command has arguments; nil for none.
    ///
    /// - Parameters:
    ///   - values: All values that are not values of options.
    ///   - options: The given options with their values, as in the command line.
    static func advice(onTooManyValues values: [String], options: [String]) -> String?

    /// The message of the program for an error that one of its commands has thrown. By default, the description of the
    /// error.
    static func text(of error: any Error) -> String
}

extension ParsableCommand {
    /// Does nothing, because a command with subcommands is never run.
    package func run() throws {}

    package static func advice(onUnknownCommand word: String, arguments: [String]) -> String? { nil }

    package static func advice(onTooManyValues values: [String], options: [String]) -> String? { nil }

    package static func text(of error: any Error) -> String { "\(error)" }

    /// Parses the arguments of this command. `arguments` excludes the name of the program.
    ///
    /// - Throws: ``CommandExit`` with the output, for usage errors and for requests for help.
    package static func parse(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws(CommandExit) -> Self {
        guard let command = try CommandTree(root: Self.self).parse(arguments, environment: environment) as? Self else {
            preconditionFailure("\(configuration.name) has subcommands: parse it with parseAsRoot")
        }
        return command
    }

    /// Finds the subcommand that is named in the arguments of a program, and parses the arguments of the subcommand.
    /// `arguments` excludes the name of the program.
    ///
    /// - Throws: ``CommandExit`` with the output, for usage errors and for requests for help.
    package static func parseAsRoot(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws(CommandExit) -> any ParsableCommand {
        try CommandTree(root: Self.self).parse(arguments, environment: environment)
    }

    /// Runs the program with the arguments and environment of the process, then ends the process.
    package static func main() -> Never {
        do {
            let command = try parseAsRoot(processArguments(), environment: ProcessInfo.processInfo.environment)
            try command.run()
            endProcess(.success)
        } catch {
            let end = CommandExit(error, text: text(of:))
            // Errors of these writes are ignored, because there is no other place to report them.
            try? FileHandle.standardOutput.write(contentsOf: Data(end.standardOutput.utf8))
            try? FileHandle.standardError.write(contentsOf: Data(end.standardError.utf8))
            endProcess(end.code)
        }
    }
}

/// The command line arguments, excluding the name of the program.
///
/// - Throws: ``ValidationError`` if an argument is not UTF-8 text. `CommandLine.arguments` replaces the invalid bytes,
///   so the program would use a file with another name.
private func processArguments() throws(ValidationError) -> [String] {
    for (number, text) in UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).enumerated()
    {
        guard number > 0, let text, String(validatingCString: text) == nil else { continue }
        throw ValidationError(
            "argument \(number), \(String(cString: text)), is not UTF-8 text; name the folder of the file, or rename the file"
        )
    }
    return Array(CommandLine.arguments.dropFirst())
}

/// Ends the process without calling the exit handlers of libraries. Threads of the program may still be running. The
/// exit handler of OpenSSL would free memory that these threads also free when they end.
package func endProcess(_ code: ExitCode) -> Never {
    fflush(nil)
    _exit(code.rawValue)
}
