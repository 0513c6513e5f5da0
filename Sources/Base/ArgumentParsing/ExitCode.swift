import DarkroomText

/// The exit status of a program. A command throws an exit code to end with this status and without a message.
package struct ExitCode: Error, Hashable, Sendable {
    /// The status, 0 to 255.
    package let rawValue: Int32

    package init(_ status: Int32) { rawValue = status }

    /// The command succeeded.
    package static let success = ExitCode(0)
    /// The command failed.
    package static let failure = ExitCode(1)
    /// The command line was wrong.
    package static let usage = ExitCode(2)
}

/// The error for values that a command rejects: out of range, or invalid together with other values.
package struct ValidationError: Error, CustomStringConvertible, Sendable {
    /// The message: it names the option, the value that was found, and the remedy.
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// The exit status and output of a program whose command has failed or was not run.
package struct CommandExit: Error, Sendable {
    /// The exit status.
    package let code: ExitCode
    /// The text for standard output: help or version.
    package let standardOutput: String
    /// The text for standard error: the errors.
    package let standardError: String

    /// Success, with a text for standard output.
    init(answer: String) {
        code = .success
        standardOutput = answer
        standardError = ""
    }

    /// A usage error for a missing subcommand, followed by the help.
    init(missingCommand help: String) {
        self.init(code: .usage, message: "error: missing a command\n\n" + help)
    }

    /// A usage error: one line for each problem, followed by the usage.
    init(problems: [String], usage: String, helpCommand: String) {
        code = .usage
        standardOutput = ""
        standardError =
            problems.map(Self.line).joined() + usage + "\nSee '\(helpCommand)' for more.\n"
    }

    /// The exit of a program whose command has thrown `error`.
    /// - Parameter text: Returns the message for an error that is not a usage error.
    package init(_ error: any Error, text: (any Error) -> String = { "\($0)" }) {
        switch error {
        case let end as CommandExit: self = end
        case let code as ExitCode: self.init(code: code, message: "")
        case let validation as ValidationError: self.init(code: .usage, message: Self.line(validation.description))
        default: self.init(code: .failure, message: Self.line(text(error)))
        }
    }

    /// The error message for a problem. All lines after the first are indented, so that untrusted text cannot look like
    /// another message.
    private static func line(_ problem: String) -> String {
        let lines = problem.split(separator: "\n", omittingEmptySubsequences: false)
        return "error: " + lines.map { PrintableText.line(String($0)) }.joined(separator: "\n  ") + "\n"
    }

    private init(code: ExitCode, message: String) {
        self.code = code
        standardOutput = ""
        standardError = message
    }
}
