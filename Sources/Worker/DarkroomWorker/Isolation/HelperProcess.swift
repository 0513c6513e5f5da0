import CSystem
import DarkroomConcurrency
import DarkroomText
import Foundation

/// The command with which a helper is started.
struct HelperProgram {
    let path: String
    /// The arguments of the process, beginning with its name.
    let arguments: [String]
    let environment: [String: String]
    /// The largest number of file descriptors that the process may have open.
    let openFiles: Int
    /// The largest address space in bytes that a photo may use.
    let maxMemory: Int
    /// The longest CPU time that a photo may use.
    let maxTime: Duration
}

/// A process that develops photos for the worker, one after the other. It ends when the worker ends or crashes.
final class HelperProcess: PooledProcess {
    /// The result of developing a photo.
    enum Outcome {
        case answered(HelperAnswer, [UInt8])
        /// The process has ended, or the worker has ended it; the text says how. `isLate`: the worker ended it because
        /// the photo took too long.
        case ended(String, isLate: Bool = false)
        /// The photo was cancelled. The process may still be developing this photo.
        case stopped
    }

    /// The limits of a helper for one photo. The worker enforces these limits, so that they also hold for a helper that
    /// a malicious photo has taken over.
    struct Allowance {
        /// The address space in bytes.
        let memory: Int
        /// The limits of CPU time and elapsed time for a photo of `pixels` pixels; `pixels` is 0 while the size is
        /// unknown.
        let time: (_ pixels: Int) -> (processor: Duration, clock: Duration)
        /// The largest number of bytes of all files for a photo of `pixels` pixels; `pixels` is 0 while the size is unknown.
        var bytes: (_ pixels: Int) -> Int
        /// The largest number of pixels of a photo.
        let maxPixels: Int
    }

    private struct ProcessState {
        var isOver = false
        var end: String?
        var photos = 0
    }

    private let identifier: pid_t
    private let channel: HelperChannel
    private let processState = Locked(ProcessState())
    private let ended = DispatchSemaphore(value: 0)
    private let program: HelperProgram
    /// The time limit of the start: the helper may have to load libraries from a slow disk.
    private static let patience = Duration.seconds(60)
    /// The maximum number of sizes that a helper may send for one photo: each filter that enlarges the photo adds one.
    private static let maxSizes = 1000

    /// Starts a helper, and blocks until the helper is confined.
    /// - Parameter isStopped: called every 20 ms; true ends the wait.
    init(_ program: HelperProgram, unless isStopped: @escaping () -> Bool) throws(StartFailure) {
        self.program = program
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw StartFailure(detail: systemErrorText())
        }
        let (own, its) = (ends[0], ends[1])
        let started = DispatchSemaphore(value: 0)
        let outcome = Locked<(identifier: pid_t, error: Int32)>((-1, 0))
        // The kernel ends the helper when its starting thread ends. Therefore the starting thread waits until the
        // helper has ended.
        let (processState, ended) = (processState, ended)
        _ = OwnedThread("darkroom-helper") {
            let (identifier, error) = Self.spawn(program, its)
            close(its)
            outcome.withLock { $0 = (identifier, error) }
            started.signal()
            if identifier > 0 { Self.reap(identifier, processState) }
            ended.signal()
        }
        started.wait()
        let (child, error) = outcome.withLock { $0 }
        // Some properties are not set yet, so `deinit` does not run after a throw. This is harmless: no process was
        // started.
        guard child > 0 else {
            close(own)
            throw StartFailure(detail: systemErrorText(error))
        }
        identifier = child
        channel = HelperChannel(descriptor: own)
        // The calling thread will wait for the results of the helper, so the helper should have the same nice value.
        let process = __priority_which_t(PRIO_PROCESS.rawValue)
        _ = setpriority(process, id_t(identifier), getpriority(process, 0))
        do throws(StartFailure) {
            try waitUntilConfined(unless: isStopped)
        } catch {
            end()
            throw error
        }
    }

    private func waitUntilConfined(unless isStopped: @escaping () -> Bool) throws(StartFailure) {
        let deadline = ContinuousClock.now + Self.patience
        let greeting: HelperGreeting
        do throws(HelperChannel.Failure) {
            let isOver = { isStopped() || ContinuousClock.now > deadline }
            greeting = try channel.receive(HelperGreeting.self, maxBytes: 0, unless: isOver).header
        } catch {
            switch error {
            case .stopped:
                throw StartFailure(
                    detail: "it was not ready within \(Self.patience); does the program call useThisProgramAsHelper()?",
                    retry: .never)
            case .malformed: throw StartFailure(detail: "it sent an invalid message", retry: .never)
            case .closed: throw StartFailure(detail: "it \(howItEnded()) before it was ready")
            }
        }
        if let problem = greeting.problem {
            throw StartFailure(detail: HelperAnswer.cut(problem), retry: greeting.mayPass ? .afterPause : .never)
        }
        guard limitMemory(program.maxMemory), limitTime() else {
            throw StartFailure(detail: "its limits cannot be set: \(systemErrorText())")
        }
    }

    deinit {
        end()
        close(channel.descriptor)
    }

    var photos: Int { processState.withLock { $0.photos } }

    /// Whether the process runs, and its remaining CPU time suffices for the largest photo.
    var isUsable: Bool { processorTime.map { $0 <= program.maxTime } ?? false }

    /// Develops a photo. Blocks until the result is known.
    /// - Parameters:
    ///   - allowance: the limits. The worker ends a helper that exceeds these limits.
    ///   - isStopped: called every 20 ms; if it returns true, the wait ends.
    func develop(
        _ job: HelperJob, _ bytes: [UInt8], _ allowance: Allowance, unless isStopped: @escaping () -> Bool
    ) -> Outcome {
        guard limitMemory(allowance.memory) else {
            return .ended("was ended, its memory cannot be limited: \(systemErrorText())")
        }
        let began = ContinuousClock.now
        let used = processorTime
        var pixels = 0
        var lateness: String?
        let isOver = { [self] in
            let time = allowance.time(pixels)
            if ContinuousClock.now - began > time.clock {
                lateness = "was ended, it took longer than \(time.clock)"
            } else if let used, let now = processorTime, now - used > time.processor {
                lateness = "was ended, it took more processor time than a photo of its size may"
            }
            return lateness != nil || isStopped()
        }
        do throws(HelperChannel.Failure) {
            try bytes.withUnsafeBytes { bytes in
                Result { () throws(HelperChannel.Failure) in try channel.send(job, bytes, unless: isOver) }
            }.get()
            var sizes = 0
            while true {
                let answer = try channel.receive(
                    HelperAnswer.self, maxBytes: allowance.bytes(pixels), unless: isOver)
                guard let size = answer.header.pixels else {
                    processState.withLock { $0.photos += 1 }
                    return .answered(answer.header, answer.bytes)
                }
                sizes += 1
                guard size > pixels, size <= allowance.maxPixels, sizes <= Self.maxSizes else { throw .malformed }
                pixels = size
            }
        } catch {
            switch error {
            case .stopped: return lateness.map { .ended($0, isLate: true) } ?? .stopped
            case .malformed: return .ended("was ended, its answer was invalid")
            case .closed: return .ended(howItEnded())
            }
        }
    }

    /// Returns how the process ended. Called after the connection of the process was closed.
    private func howItEnded() -> String {
        // The socket closes shortly before the process ends. If the process is still running after 5 s, the caller
        // kills it.
        if ended.wait(timeout: .now() + 5) == .timedOut { return "was ended, it closed its connection" }
        ended.signal()
        return processState.withLock { $0.end } ?? "ended"
    }

    /// The CPU time that the process has used; nil if the process has ended.
    private var processorTime: Duration? {
        processState.withLock { processState in
            guard !processState.isOver else { return nil }
            let nanoseconds = csystem_processor_time(identifier)
            return nanoseconds < 0 ? nil : .nanoseconds(nanoseconds)
        }
    }

    /// Limits the total CPU time of the process. Only this limit stops a helper that a malicious photo has taken over
    /// and that keeps computing between photos. Returns false if the process is still running and the system refuses
    /// the limit.
    private func limitTime() -> Bool {
        let seconds = UInt((program.maxTime * 2).components.seconds) + 10
        return processState.withLock { processState in
            processState.isOver || csystem_limit_processor_time(identifier, seconds) == 0 || errno == ESRCH
        }
    }

    /// Limits the address space of the process. Returns false if the process is still running and the system refuses
    /// the limit.
    private func limitMemory(_ bytes: Int) -> Bool {
        processState.withLock { processState in
            processState.isOver
                || csystem_limit_memory(identifier, UInt(bytes), UInt(program.maxMemory)) == 0 || errno == ESRCH
        }
    }

    func end() {
        // The system does not reuse the process id before waitpid(2) has returned it.
        processState.withLock { if !$0.isOver { kill(identifier, SIGKILL) } }
    }

    private static func spawn(_ program: HelperProgram, _ socket: Int32) -> (identifier: pid_t, error: Int32) {
        // Without this variable, a crash of the helper would start another program, which writes a crash report.
        let own = [HelperService.mark: "1", "SWIFT_BACKTRACE": "enable=no"]
        let environment = program.environment.merging(own) { _, own in own }
        var arguments = program.arguments.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        let identifier = csystem_spawn_confined(
            program.path, &arguments, &variables, socket, Int32(clamping: program.openFiles))
        return (identifier, errno)
    }

    private static func reap(_ identifier: pid_t, _ processState: Locked<ProcessState>) {
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        var status: Int32 = 0
        processState.withLock { processState in
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            processState.isOver = true
            let signal = status & 0x7f
            processState.end =
                signal == 0
                ? "ended with status \(status >> 8 & 0xff)"
                : "was ended by signal \(signal) (\(String(cString: strsignal(signal))))"
        }
    }
}
