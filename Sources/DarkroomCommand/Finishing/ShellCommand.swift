import Foundation

/// A command line of the user's, run by `/bin/sh -c`.
struct ShellCommand {
    /// How it ended.
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

    private let text: String
    private let environment: [String: String]
    private let input: String

    /// - Parameters:
    ///   - environment: what is put into the environment of this process for it.
    ///   - input: what it reads from standard input.
    init(_ text: String, environment: [String: String], input: String) {
        self.text = text
        self.environment = environment
        self.input = input
    }

    /// Runs it and waits for its end. What it prints to standard output goes to standard error: the former has the facts
    /// alone.
    func run() throws(CommandError) -> End {
        // A file, not a pipe: the command may end without having read it.
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
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)

        // This program blocks the signals that are to end the command.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))

        let variables = ProcessInfo.processInfo.environment.merging(environment) { _, own in own }
        let words = ["/bin/sh", "-c", text]
        var arguments = words.map { strdup($0) } + [nil]
        var pairs = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { (arguments + pairs).forEach { free($0) } }
        var process: pid_t = 0
        let error = posix_spawn(&process, "/bin/sh", &actions, &attributes, &arguments, &pairs)
        guard error == 0 else { throw Self.failed("run /bin/sh", error) }
        return process
    }

    private static func failed(_ attempted: String, _ error: Int32) -> CommandError {
        CommandError("\(attempted): \(String(cString: strerror(error)))")
    }
}
