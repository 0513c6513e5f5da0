import CSystem
import DarkroomConcurrency
import Foundation

/// This program, as a helper is started from it.
struct HelperProgram {
    /// The first is what the process is called.
    let arguments: [String]
    let environment: [String: String]
    /// Descriptors that it may have.
    let openFiles: Int
}

/// A process that develops photos apart from the worker, one after the other. It ends with the worker, however that ends.
final class HelperProcess: Sendable {
    /// What came of a photo.
    enum Outcome {
        case answered(HelperAnswer, [UInt8])
        /// The process has ended, or had to be ended: the text says how.
        case died(String)
        /// The process was ended because it took too long.
        case late(String)
        /// The photo is not wanted any more; the process may still be at it.
        case stopped
    }

    /// Why there is no process.
    struct StartFailure: Error {
        let detail: String
    }

    private struct Life {
        var isOver = false
        var end: Outcome?
        var photos = 0
    }

    private let identifier: pid_t
    private let channel: HelperChannel
    private let life = Locked(Life())
    private let ended = DispatchSemaphore(value: 0)
    /// No photo's file is larger.
    private static let maxBytes = 2 << 30

    /// Starts a helper.
    init(_ program: HelperProgram) throws(StartFailure) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw StartFailure(detail: String(cString: strerror(errno)))
        }
        let (own, its) = (ends[0], ends[1])
        let started = DispatchSemaphore(value: 0)
        let outcome = Locked<(identifier: pid_t, error: Int32)>((-1, 0))
        // The kernel ends the helper with the thread that started it, so that is one that waits for its end.
        let (life, ended) = (life, ended)
        _ = OwnedThread("darkroom-helper") {
            let (identifier, error) = Self.spawn(program, its)
            close(its)
            outcome.withLock { $0 = (identifier, error) }
            started.signal()
            if identifier > 0 { Self.reap(identifier, life) }
            ended.signal()
        }
        started.wait()
        let (child, error) = outcome.withLock { $0 }
        // Before anything of this object is set: there is no process that could be ended.
        guard child > 0 else {
            close(own)
            throw StartFailure(detail: String(cString: strerror(error)))
        }
        identifier = child
        channel = HelperChannel(descriptor: own)
        // As ready for the processor as the thread that waits for it; what the system refuses stays as it is.
        let process = __priority_which_t(PRIO_PROCESS.rawValue)
        _ = setpriority(process, id_t(identifier), getpriority(process, 0))
    }

    deinit {
        end()
        close(channel.descriptor)
    }

    /// How many photos it has developed.
    var photos: Int { life.withLock { $0.photos } }

    /// Develops a photo; blocks until that is done.
    /// - Parameters:
    ///   - duration: by the clock; a helper that takes longer is ended.
    ///   - isStopped: asked all the time.
    func develop(
        _ job: HelperJob, _ bytes: [UInt8], within duration: Duration, unless isStopped: @escaping () -> Bool
    ) -> Outcome {
        let deadline = ContinuousClock.now + duration
        var isLate = false
        let isOver = {
            isLate = ContinuousClock.now > deadline
            return isLate || isStopped()
        }
        do throws(HelperChannel.Failure) {
            try bytes.withUnsafeBytes { bytes in
                Result { () throws(HelperChannel.Failure) in try channel.send(job, bytes, unless: isOver) }
            }.get()
            let answer = try channel.receive(HelperAnswer.self, maxBytes: Self.maxBytes, unless: isOver)
            life.withLock { $0.photos += 1 }
            return .answered(answer.header, answer.bytes)
        } catch {
            switch error {
            case .stopped where !isLate: return .stopped
            case .stopped: return .late("was ended, it took longer than \(duration)")
            case .malformed: return .died("was ended, its answer made no sense")
            case .closed:
                // Its socket closes a moment before the process is gone; one that only closed it is ended.
                if ended.wait(timeout: .now() + 5) == .timedOut { return .died("was ended, it closed its connection") }
                ended.signal()
                return life.withLock { $0.end } ?? .died("ended")
            }
        }
    }

    /// Ends the process, whatever it does.
    func end() {
        // The id is this process's as long as nobody has waited for it.
        life.withLock { if !$0.isOver { kill(identifier, SIGKILL) } }
    }

    private static func spawn(_ program: HelperProgram, _ socket: Int32) -> (identifier: pid_t, error: Int32) {
        // A report of a crash would start a program.
        let own = [HelperService.mark: "1", "SWIFT_BACKTRACE": "enable=no"]
        let environment = program.environment.merging(own) { _, own in own }
        var arguments = program.arguments.map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        let identifier = csystem_spawn_self(&arguments, &variables, socket, Int32(clamping: program.openFiles))
        return (identifier, errno)
    }

    private static func reap(_ identifier: pid_t, _ life: Locked<Life>) {
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        var status: Int32 = 0
        life.withLock { life in
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            life.isOver = true
            life.end = outcome(status)
        }
    }

    private static func outcome(_ status: Int32) -> Outcome {
        let signal = status & 0x7f
        switch signal {
        case 0: return .died("ended with status \(status >> 8 & 0xff)")
        case SIGXCPU:
            return .late("was ended, it took more processor time than a photo of its size may (--photo-timeout)")
        default: return .died("was ended by signal \(signal) (\(String(cString: strsignal(signal))))")
        }
    }
}
