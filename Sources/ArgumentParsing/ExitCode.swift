import DarkroomText

/// The status with which a program ends; thrown by a command to end so without a further message.
package struct ExitCode: Error, RawRepresentable, Hashable, Sendable {
    /// The status, 0 to 255.
    package let rawValue: Int32

    /// Creates a status.
    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Creates a status.
    package init(_ status: Int32) {
        self.rawValue = status
    }

    /// It was done.
    package static let success = ExitCode(0)
    /// It could not be done.
    package static let failure = ExitCode(1)
    /// The command line was wrong.
    package static let usage = ExitCode(2)
}

/// Values that are good each for itself but not together, or outside of what a command takes.
package struct ValidationError: Error, CustomStringConvertible, Sendable {
    /// Names the option, what was found and what to do.
    package let message: String

    /// Creates an error.
    package init(_ message: String) {
        self.message = message
    }

    /// The message.
    package var description: String { message }
}

/// How a program ends before or instead of a command's regular end: a status and what is printed.
package struct CommandExit: Error, Sendable {
    /// The status.
    package let code: ExitCode
    /// Text for standard output: help, version.
    package let standardOutput: String
    /// Text for standard error: what is wrong.
    package let standardError: String

    /// A good end that answers on standard output.
    init(answer: String) {
        code = .success
        standardOutput = answer
        standardError = ""
    }

    /// A usage error: only a command's beginning was given; the help tells how it can go on.
    init(missingCommand help: String) {
        self.init(code: .usage, message: "error: missing a command\n\n" + help)
    }

    /// A usage error: every problem on a line, then how the command is used.
    init(problems: [String], usage: String, helpCommand: String) {
        code = .usage
        standardOutput = ""
        standardError =
            problems.map(Self.line).joined() + usage + "\nSee '\(helpCommand)' for more.\n"
    }

    /// The end that an error thrown by a command stands for.
    package init(_ error: any Error) {
        switch error {
        case let end as CommandExit:
            self = end
        case let code as ExitCode:
            self.init(code: code, message: "")
        case let validation as ValidationError:
            self.init(code: .usage, message: Self.line(validation.message))
        default:
            self.init(code: .failure, message: Self.line("\(error)"))
        }
    }

    /// The error message for a problem. Its further lines are indented, so that untrusted text cannot look like another
    /// message.
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
