import CSystem
import DarkroomConcurrency
import DarkroomModel
import DarkroomText
import Foundation

/// A supervisor process, which runs commands of a worker, one after the other. `Supervisor.c` describes its work.
final class CommandSupervisor: PooledProcess {
    private let identifier: pid_t
    private let socket: Int32
    private let hasEnded = Locked(false)
    /// The time limit for starting a command. The first start includes the start of the supervisor.
    private static let patience = Duration.seconds(60)
    /// The interval at which a waiting call checks for a cancellation.
    private static let pollTime = timeval(tv_sec: 0, tv_usec: 20_000)
    /// The longest time that the worker waits for a supervisor to kill all processes of its command and to remove the
    /// temporary folder. A process that waits for a disk cannot be killed.
    private static let endMilliseconds: Int32 = 5000

    /// Starts a supervisor with the nice value of this thread.
    init() throws(StartFailure) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw StartFailure(ofCommand: "no socket", errno)
        }
        defer { close(ends[1]) }
        var pollTime = Self.pollTime
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(ends[0], SOL_SOCKET, option, &pollTime, socklen_t(MemoryLayout<timeval>.size))
        }
        // Commands can read the environment of their supervisor, which therefore contains no secrets.
        let environment = ProcessInfo.processInfo.environment.filter { HelperEnvironment.names.contains($0.key) }
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in variables { free(text) } }
        identifier = csystem_spawn_supervisor(Self.parentFolder, &variables, ends[1])
        socket = ends[0]
        guard identifier > 0 else {
            let error = errno
            close(socket)
            hasEnded.withLock { $0 = true }
            throw StartFailure(ofCommand: "no process", error)
        }
    }

    deinit { end() }

    /// The folder for temporary files. Each command runs in a new subfolder.
    private static var parentFolder: String {
        ProcessInfo.processInfo.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    }

    /// Starts a command. Blocks until its process exists.
    /// - Parameters:
    ///   - processorTime: limits each process of the command; nil sets no limit.
    ///   - isCancelled: called every 20 ms; if it returns true, the start fails, and the supervisor cannot be used
    ///     again.
    func start(
        _ program: CommandProgram, _ environment: [String], _ limits: CommandLimits, processorTime: Duration?,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws(StartFailure) -> RunningCommand {
        var arguments = program.arguments.map { strdup($0) } + [nil]
        var variables = environment.map { strdup($0) } + [nil]
        defer { for text in arguments + variables { free(text) } }
        let pipes = try CommandPipes()
        var given = csystem_command_limits(
            memory: UInt(limits.memory),
            processor_seconds: processorTime.map { UInt(($0 / .seconds(1)).rounded(.up)) } ?? UInt.max - 1,
            open_files: UInt(limits.openFiles))
        let deadline = ContinuousClock.now + Self.patience
        let wait = Wait { isCancelled() || .now > deadline }
        var command: pid_t = -1
        let error = withExtendedLifetime(wait) {
            csystem_start_command(
                socket, &arguments, &variables, pipes.commandEnds, &given,
                csystem_wait(
                    is_over: { Unmanaged<Wait>.fromOpaque($0!).takeUnretainedValue().isOver() },  // the context below
                    context: Unmanaged.passUnretained(wait).toOpaque()),
                &command)
        }
        pipes.closeCommandEnds()
        if error > 0 { throw StartFailure(ofCommand: "no process with a folder in \(Self.parentFolder)", error) }
        if error < 0 {
            throw wait.isOver()
                ? StartFailure(ofCommand: "its supervisor does not answer", ETIMEDOUT)
                : StartFailure(detail: "its supervisor has ended", reason: .filterFailed, retry: .atOnce)
        }
        return RunningCommand(command, of: self, pipes)
    }

    /// The context of `csystem_wait`.
    private final class Wait: Sendable {
        let isOver: @Sendable () -> Bool

        init(_ isOver: @escaping @Sendable () -> Bool) { self.isOver = isOver }
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

    /// A supervisor develops no photos itself.
    var photos: Int { 0 }
    var isUsable: Bool { true }

    func end() { end(command: 0) }

    /// Ends the supervisor with its command, and waits until all processes of the command have ended.
    func end(command: pid_t) {
        guard !hasEnded.exchange(true) else { return }
        close(socket)
        csystem_end_supervisor(identifier, command, Self.endMilliseconds)
    }
}

extension StartFailure {
    /// The errors of a machine that has too many processes or open files for the moment, or no space for the folder of a
    /// command.
    private static let passingErrors: Set = [EAGAIN, EMFILE, ENFILE, ENOSPC, EDQUOT, EROFS]

    /// A failed system call for a command.
    init(ofCommand what: String, _ error: Int32) {
        self.init(
            detail: "\(what): \(systemErrorText(error))", reason: error == ENOMEM ? .outOfMemory : .filterFailed,
            retry: Self.passingErrors.contains(error) ? .afterPause : .never)
    }
}
