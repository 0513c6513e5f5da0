import CSystem
import DarkroomConcurrency
import DarkroomModel
import DarkroomRecipes
import DarkroomText
import Foundation

/// A custom filter that runs a command of the user, in any language. Can be used by several threads at once.
///
/// DESIGN. The worker keeps supervisors, or `stream` commands with their supervisors, in a ``ProcessPool``.
package final class FilterCommand: Sendable {
    /// How a command gets photos.
    package enum Style: String, CaseIterable, Sendable {
        /// A process for each photo: the photo on standard input, the result on standard output.
        case process
        /// A kept process, which gets photos one after the other. A line of JSON precedes each photo and each result.
        case stream
    }

    /// The form in which a command gets a photo.
    package enum Input: String, CaseIterable, Sendable {
        /// The result of the previous step. The first step gets the downloaded bytes, which are not checked.
        case bytes
        /// A PNG file that this program has encoded, in sRGB and without metadata, so that the command does not decode
        /// an untrusted file.
        case png
    }

    package let name: String
    let style: Style
    let input: Input
    let limits: CommandLimits
    private let program: CommandProgram
    /// The environment of the command, excluding the variables of a photo.
    private let environment: [String]
    private let supervisors = ProcessPool<CommandSupervisor>()
    private let streams = ProcessPool<CommandStream>()

    private static let childrenList = "/proc/thread-self/children"
    /// The variables of the worker that a command gets, in addition to all variables that begin with `LC_`.
    private static let inherited: Set = ["PATH", "HOME", "LANG", "TZ"]

    /// Finds the program of the command.
    /// - Throws: ``InvalidCommand`` if the name is invalid, the program cannot be executed, or the kernel does not list
    ///   the children of a process.
    package init(
        _ name: String, command: String, style: Style = .process, input: Input = .bytes,
        limits: CommandLimits = CommandLimits()
    ) throws(InvalidCommand) {
        guard PhotoFilter.Custom.isName(name) else {
            throw InvalidCommand("\"\(name)\" is not a name: 1 to 64 letters, digits, \"_\" and \"-\"")
        }
        self.name = name
        self.style = style
        self.input = input
        self.limits = limits
        program = try CommandProgram(command)
        // Without this file, a supervisor cannot find the processes that its command leaves behind.
        guard access(Self.childrenList, R_OK) == 0 else {
            throw InvalidCommand(
                "\(Self.childrenList): \(systemErrorText()); commands need a kernel with CONFIG_PROC_CHILDREN")
        }
        environment =
            ProcessInfo.processInfo.environment
            .filter { Self.inherited.contains($0.key) || $0.key.hasPrefix("LC_") }
            .map { "\($0.key)=\($0.value)" } + ["DARKROOM_CUSTOM_FILTER=\(name)"]
        // Commands are processes of the same user, and must not read this process's memory and environment.
        csystem_hide_process()
    }

    /// Ends the processes that wait for photos. Processes that develop a photo continue.
    package func stop() {
        streams.endIdle()
        supervisors.endIdle()
    }

    /// Runs the command for a photo. Blocks until all processes of the command have ended (`process`), or the answer of
    /// the command is complete (`stream`). Blocks SIGPIPE on this thread permanently.
    /// - Parameter isCancelled: called every 20 ms; true ends the command.
    /// - Returns: the result, which is not empty.
    package func run(
        _ photo: CommandPhoto, isCancelled: @escaping @Sendable () -> Bool
    ) throws(PhotoProduct.Failure) -> [UInt8] {
        switch style {
        case .process: try runProcess(photo, isCancelled)
        case .stream: try runStream(photo, isCancelled)
        }
    }

    // MARK: - A process for each photo

    private func runProcess(
        _ photo: CommandPhoto, _ isCancelled: @escaping @Sendable () -> Bool
    ) throws(PhotoProduct.Failure) -> [UInt8] {
        func start() throws(PhotoProduct.Failure) -> RunningCommand {
            try self.start(environment + photo.variables(), processorTime: limits.processorTime, isCancelled)
        }
        var command = try start()
        var result: [UInt8] = []
        var mayTryAgain = true
        while true {
            do throws(RunningCommand.Stop) {
                try command.exchange(
                    [photo.bytes], closesInput: true,
                    within: RunningCommand.Allowance(time: limits.time, processorTime: nil), isCancelled: isCancelled
                ) { [limits] bytes throws(RunningCommand.Stop) in
                    guard result.count + bytes.count <= limits.resultBytes else {
                        throw .invalid("it printed more than \(limits.resultBytes) bytes to standard output")
                    }
                    result += bytes
                    return false
                }
                break
            } catch {
                command.stop()
                // Another program, or the kernel for lack of memory, has killed the supervisor. The photo may not be
                // the cause, so the command is started once more.
                guard case .supervisorLost = error, mayTryAgain else { throw failure(error, of: command) }
                mayTryAgain = false
                command = try start()
                result = []
            }
        }
        guard let end = command.end else { preconditionFailure("an exchange without an answer returns at the end") }
        supervisors.putBack(command.supervisor)
        if let failure = failure(of: end, of: command) { throw failure }
        guard !result.isEmpty else { throw failed(.filterFailed, "printed nothing to standard output", command) }
        return result
    }

    // MARK: - A kept process

    private func runStream(
        _ photo: CommandPhoto, _ isCancelled: @escaping @Sendable () -> Bool
    ) throws(PhotoProduct.Failure) -> [UInt8] {
        var hasLostSupervisor = false
        return try streams.use { () throws(PhotoProduct.Failure) in
            CommandStream(try start(environment, processorTime: nil, isCancelled))
        } _: { stream in
            use(stream, photo, isCancelled, &hasLostSupervisor)
        }
    }

    private func use(
        _ stream: CommandStream, _ photo: CommandPhoto, _ isCancelled: () -> Bool, _ hasLostSupervisor: inout Bool
    ) -> ProcessUse<[UInt8]> {
        let command = stream.command
        do throws(RunningCommand.Stop) {
            switch try stream.develop(photo, limits, isCancelled: isCancelled) {
            case .result(let bytes): return ProcessUse(bytes)
            case .error(let text):
                let detail = "custom filter \(name): \(HelperAnswer.cut(text))"
                return ProcessUse(failure: .init(reason: .filterFailed, detail: detail), isKept: true)
            case nil:
                let failure =
                    command.end.flatMap { self.failure(of: $0, of: command) }
                    ?? failed(.filterFailed, "ended with status 0 before its answer", command)
                return ProcessUse(failure: failure, mayBeOfEarlierPhotos: true)
            }
        } catch {
            guard case .supervisorLost = error else { return ProcessUse(failure: failure(error, of: command)) }
            defer { hasLostSupervisor = true }
            // See `runProcess`.
            return ProcessUse(
                failure: failure(error, of: command), mayBeOfEarlierPhotos: true, isTriedAgain: !hasLostSupervisor)
        }
    }

    // MARK: - Starting

    /// Starts the command in an idle supervisor, or in a new supervisor.
    private func start(
        _ environment: [String], processorTime: Duration?, _ isCancelled: @escaping @Sendable () -> Bool
    ) throws(PhotoProduct.Failure) -> RunningCommand {
        try startProcess("custom filter \(name): the command cannot be started", unless: isCancelled) {
            () throws(StartFailure) in
            let supervisor = if let idle = supervisors.take() { idle } else { try CommandSupervisor() }
            do throws(StartFailure) {
                return try supervisor.start(
                    program, environment, limits, processorTime: processorTime, isCancelled: isCancelled)
            } catch {
                supervisor.end()
                throw error
            }
        }
    }

    // MARK: - Failures

    /// The failure of a photo whose command the worker has ended.
    private func failure(_ stop: RunningCommand.Stop, of command: RunningCommand) -> PhotoProduct.Failure {
        switch stop {
        case .cancelled: .cancelled
        case .late(let detail): failed(.filterTimeout, "was ended: \(detail)", command)
        case .invalid(let detail): failed(.filterFailed, "was ended: \(detail)", command)
        case .supervisorLost: failed(.filterFailed, "was ended, because its supervisor process has ended", command)
        }
    }

    /// The failure of a photo whose command has ended with this status; nil if the command has succeeded.
    private func failure(of end: csystem_command_end, of command: RunningCommand) -> PhotoProduct.Failure? {
        if end.error != 0 {
            let detail = "could not be executed: \(program.arguments[0]): \(systemErrorText(end.error))"
            return failed(end.error == ENOMEM ? .outOfMemory : .filterFailed, detail, command)
        }
        // wait(2): the low seven bits are the signal, the byte above them the status.
        let (signal, status) = (end.status & 0x7f, end.status >> 8 & 0xff)
        let processorTime = Duration.nanoseconds(end.processor_time)
        // The kernel checks RLIMIT_CPU in clock ticks, at most 10 ms apart.
        if signal == SIGXCPU || processorTime + .milliseconds(10) > limits.processorTime, style == .process {
            return failed(.filterTimeout, "used more than \(limits.processorTime) of processor time", command)
        }
        if signal != 0 {
            let text = String(cString: strsignal(signal))
            return failed(.filterFailed, "was ended by signal \(signal) (\(text))", command)
        }
        return status == 0 ? nil : failed(.filterFailed, "ended with status \(status)\(Self.meaning(status))", command)
    }

    /// The meaning of a status of a shell.
    private static func meaning(_ status: Int32) -> String {
        switch status {
        case 126: " (a program cannot be executed)"
        case 127: " (a program was not found)"
        default: ""
        }
    }

    /// A failure whose detail contains the shortened standard error of the command.
    private func failed(_ reason: FailureReason, _ what: String, _ command: RunningCommand) -> PhotoProduct.Failure {
        let text = "custom filter \(name): the command \(what)"
        let errors = command.lastErrors(most: HelperAnswer.maxDetail)
        return PhotoProduct.Failure(reason: reason, detail: errors.isEmpty ? text : "\(text): \(errors)")
    }
}
