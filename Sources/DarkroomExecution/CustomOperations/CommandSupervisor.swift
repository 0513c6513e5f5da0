import CSystem
import DarkroomConcurrency
import DarkroomText
import Foundation

/// A supervisor process, which runs commands of a worker, one after the other. `Supervisor.c` describes its work.
final class CommandSupervisor: Sendable {
    /// Why a supervisor or a command was not started.
    struct StartFailure: Error {
        let detail: String
        /// The error number; negative if an earlier supervisor has ended, so that another can start the command.
        let error: Int32

        var isOfSupervisor: Bool { error < 0 }
    }

    private let identifier: pid_t
    private let socket: Int32
    private let hasEnded = Locked(false)
    /// The time limit for starting a command. The first start includes the start of the supervisor.
    private static let patience = timeval(tv_sec: 60, tv_usec: 0)
    /// The time in which a supervisor kills all processes of its command and removes the temporary folder. A process
    /// that waits for a disk cannot be killed; the worker does not wait for it any longer.
    private static let endMilliseconds: Int32 = 5000

    /// Starts a supervisor with the nice value of this thread.
    init() throws(StartFailure) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw StartFailure(detail: "no socket: \(systemErrorText())", error: errno)
        }
        defer { close(ends[1]) }
        var patience = Self.patience
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(ends[0], SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
        // Commands can read the environment of their supervisor, which therefore contains no secrets.
        let environment = ProcessInfo.processInfo.environment.filter { HelperEnvironment.names.contains($0.key) }
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in variables { free(text) } }
        let folder = ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        identifier = csystem_spawn_supervisor(folder, &variables, ends[1])
        socket = ends[0]
        guard identifier > 0 else {
            let error = errno
            close(socket)
            hasEnded.withLock { $0 = true }
            throw StartFailure(detail: "no process: \(systemErrorText(error))", error: error)
        }
    }

    deinit { end() }

    /// Starts a command. `processorTime` limits each of its processes; nil sets no limit.
    func start(
        _ program: CommandProgram, _ environment: [String], _ limits: CommandLimits, processorTime: Duration?
    ) throws(StartFailure) -> RunningCommand {
        var arguments = program.arguments.map { strdup($0) } + [nil]
        var variables = environment.map { strdup($0) } + [nil]
        defer { for text in arguments + variables { free(text) } }
        let pipes = try CommandPipes()
        var given = csystem_command_limits(
            memory: UInt(limits.memory),
            processor_seconds: processorTime.map { UInt(($0 / .seconds(1)).rounded(.up)) } ?? UInt.max - 1,
            open_files: UInt(limits.openFiles))
        var command: pid_t = -1
        let error = csystem_start_command(socket, &arguments, &variables, pipes.commandEnds, &given, &command)
        pipes.closeCommandEnds()
        guard error == 0 else {
            let text = error < 0 ? "its supervisor has ended" : systemErrorText(error)
            throw StartFailure(detail: text, error: error)
        }
        return RunningCommand(command, of: self, pipes)
    }

    /// The descriptor that becomes readable when the command or the supervisor has ended.
    var descriptor: Int32 { socket }

    /// How the command ended; nil while it runs.
    /// - Throws: ``SupervisorLost`` if the supervisor has ended.
    func commandEnd() throws(SupervisorLost) -> csystem_command_end? {
        var end = csystem_command_end()
        switch csystem_receive_command_end(socket, &end) {
        case 0: return nil
        case 1: return end
        default: throw SupervisorLost()
        }
    }

    struct SupervisorLost: Error {}

    /// Ends the supervisor with its command, and waits until all processes of the command have ended.
    func end(command: pid_t = 0) {
        guard !hasEnded.exchange(true) else { return }
        close(socket)
        csystem_end_supervisor(identifier, command, Self.endMilliseconds)
    }
}
