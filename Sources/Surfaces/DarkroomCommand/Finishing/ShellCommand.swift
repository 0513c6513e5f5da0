import CSystem
import DarkroomText
import Foundation

/// A command line that the user has given; `/bin/sh -c` runs it.
struct ShellCommand {
    enum End: Equatable, CustomStringConvertible {
        case status(Int32)
        case signal(Int32)

        var description: String {
            switch self {
            case .status(let status): "ended with status \(status)"
            case .signal(let signal): "was ended by signal \(signal)"
            }
        }
    }

    /// The environment variables that are passed to the command, in addition to those that begin with `LC_` or `XDG_`.
    /// Other variables may contain passwords, such as `OTEL_EXPORTER_OTLP_HEADERS`. A command that needs the Redis
    /// password reads it from the file that `DARKROOM_REDIS_PASSWORD_FILE` names.
    private static let inherited: Set = [
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TERM", "DISPLAY",
        "WAYLAND_DISPLAY",
        "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "DARKROOM_REDIS_PASSWORD_FILE", "DARKROOM_REDIS_CA",
        "DARKROOM_REDIS_CERT",
        "DARKROOM_REDIS_KEY",
    ]

    private let text: String
    private let environment: [String: String]
    private let input: String

    /// - Parameters:
    ///   - environment: Variables for the command, in addition to the variables that it gets from this process.
    ///   - input: The standard input of the command.
    init(_ text: String, environment: [String: String], input: String) {
        self.text = text
        self.environment = environment
        self.input = input
    }

    /// Runs the command and waits until it has ended. Redirects its standard output to standard error, so that the
    /// standard output of this program contains only the facts.
    func run() throws(CommandError) -> End {
        // The input is a file, because a pipe causes an error if the command ends without reading its input.
        guard let file = tmpfile() else { throw Self.failed("make a temporary file for its input", errno) }
        defer { fclose(file) }
        guard fputs(input, file) >= 0, fflush(file) == 0, lseek(fileno(file), 0, SEEK_SET) == 0 else {
            throw Self.failed("write a temporary file for its input", errno)
        }
        var ended: Int32 = 0
        let process = try spawn(input: fileno(file))
        while waitpid(process, &ended, 0) < 0 {
            guard errno == EINTR else { throw Self.failed("wait for the command", errno) }
        }
        // wait(2): the low seven bits are the signal, the byte above them the status.
        let signal = ended & 0x7f
        return signal == 0 ? .status(ended >> 8 & 0xff) : .signal(signal)
    }

    private func spawn(input: Int32) throws(CommandError) -> pid_t {
        let inherited = ProcessInfo.processInfo.environment.filter { name, _ in
            Self.inherited.contains(name) || name.hasPrefix("LC_") || name.hasPrefix("XDG_")
        }
        let variables = inherited.merging(environment) { _, own in own }
        let words = ["/bin/sh", "-c", text]
        var arguments = words.map { strdup($0) } + [nil]
        var pairs = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { (arguments + pairs).forEach { free($0) } }
        // Unblocks the signals that this program has blocked, so that they end the command, and closes inherited files.
        let process = csystem_spawn_command(&arguments, &pairs, input)
        guard process > 0 else { throw Self.failed("run /bin/sh", errno) }
        return process
    }

    private static func failed(_ attempted: String, _ error: Int32) -> CommandError {
        CommandError("\(attempted): \(systemErrorText(error))")
    }
}
