import CSystem
import DarkroomConcurrency
import DarkroomText
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
        case ended(String)
        /// The process was ended because it took too long.
        case late(String)
        /// The photo is not wanted any more; the process may still be at it.
        case stopped
    }

    /// Why there is no process.
    struct StartFailure: Error {
        let detail: String
        /// Whether the next attempt may succeed.
        var mayPass = true
    }

    /// The limits of a helper for one photo. The worker enforces them, so a photo that has taken over its helper cannot
    /// change them.
    struct Allowance {
        /// Address space in bytes.
        let memory: Int
        /// Processor time, and time by the clock, for a photo of so many pixels; 0 if its size is not known.
        let time: (_ pixels: Int) -> (processor: Duration, clock: Duration)
        /// The largest file of a photo of so many pixels; 0 if its size is not known.
        let bytes: (_ pixels: Int) -> Int
        /// The largest number of pixels that a photo may have.
        let maxPixels: Int
    }

    private struct ProcessState {
        var isOver = false
        var end: Outcome?
        var photos = 0
    }

    private let identifier: pid_t
    private let channel: HelperChannel
    private let processState = Locked(ProcessState())
    private let ended = DispatchSemaphore(value: 0)
    private let maxMemory: Int
    private let maxTime: Duration
    /// How long the start may take: libraries are loaded from a disk that may be slow.
    private static let patience = Duration.seconds(60)
    /// How often a helper may correct the size of a photo. Two decoders read a JPEG, the second if the first refuses it.
    private static let maxSizes = 4

    /// Starts a helper and waits until it is confined; blocks.
    /// - Parameters:
    ///   - maxMemory: The address space in bytes that no photo of it exceeds.
    ///   - maxTime: The processor time that no photo of it exceeds.
    ///   - isStopped: asked all the time.
    init(
        _ program: HelperProgram, maxMemory: Int, maxTime: Duration, unless isStopped: @escaping () -> Bool
    ) throws(StartFailure) {
        self.maxMemory = maxMemory
        self.maxTime = maxTime
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw StartFailure(detail: systemErrorText())
        }
        let (own, its) = (ends[0], ends[1])
        let started = DispatchSemaphore(value: 0)
        let outcome = Locked<(identifier: pid_t, error: Int32)>((-1, 0))
        // The kernel ends the helper with the thread that started it, so that is one that waits for its end.
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
        // Before anything of this object is set: there is no process that could be ended.
        guard child > 0 else {
            close(own)
            throw StartFailure(detail: systemErrorText(error))
        }
        identifier = child
        channel = HelperChannel(descriptor: own)
        // As ready for the processor as the thread that waits for it; what the system refuses stays as it is.
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
                    mayPass: false)
            case .malformed: throw StartFailure(detail: "what it sent made no sense", mayPass: false)
            case .closed:
                guard case .ended(let how) = howItEnded() else { throw StartFailure(detail: "it ended") }
                throw StartFailure(detail: "it \(how) before it was ready")
            }
        }
        if let problem = greeting.problem {
            throw StartFailure(detail: HelperAnswer.cut(problem), mayPass: greeting.mayPass)
        }
        guard limitMemory(maxMemory), limitTime() else {
            throw StartFailure(detail: "its limits cannot be set: \(systemErrorText())")
        }
    }

    deinit {
        end()
        close(channel.descriptor)
    }

    /// How many photos it has developed.
    var photos: Int { processState.withLock { $0.photos } }

    /// Whether the helper must be replaced: the rest of its processor time may not be enough for the largest photo.
    var isSpent: Bool { processorTime.map { $0 > maxTime } ?? true }

    /// Develops a photo; blocks until that is done.
    /// - Parameters:
    ///   - allowance: a helper that takes more is ended.
    ///   - isStopped: asked all the time.
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
                lateness = "was ended, it took more processor time than a photo of its size may (--photo-timeout)"
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
            case .stopped: return lateness.map { .late($0) } ?? .stopped
            case .malformed: return .ended("was ended, its answer made no sense")
            case .closed: return howItEnded()
            }
        }
    }

    /// How the process ended that has closed its connection.
    private func howItEnded() -> Outcome {
        // Its socket closes a moment before the process is gone; one that only closed it is ended.
        if ended.wait(timeout: .now() + 5) == .timedOut { return .ended("was ended, it closed its connection") }
        ended.signal()
        return processState.withLock { $0.end } ?? .ended("ended")
    }

    /// The processor time that the process has used; nil if it has ended.
    private var processorTime: Duration? {
        processState.withLock { processState in
            guard !processState.isOver else { return nil }
            let nanoseconds = csystem_processor_time(identifier)
            return nanoseconds < 0 ? nil : .nanoseconds(nanoseconds)
        }
    }

    /// Limits the processor time of the process from its start to its end. Only this stops a helper that a photo has taken
    /// over and that computes while it has no photo. Returns false if the system refuses the limit.
    private func limitTime() -> Bool {
        let seconds = UInt((maxTime * 2).components.seconds) + 10
        return processState.withLock { processState in
            processState.isOver || csystem_limit_processor_time(identifier, seconds) == 0 || errno == ESRCH
        }
    }

    /// Limits the address space of the process; false if that is refused. A process that has ended needs no limit.
    private func limitMemory(_ bytes: Int) -> Bool {
        processState.withLock { processState in
            processState.isOver || csystem_limit_memory(identifier, UInt(bytes), UInt(maxMemory)) == 0 || errno == ESRCH
        }
    }

    /// Ends the process, whatever it does.
    func end() {
        // The id is this process's as long as nobody has waited for it.
        processState.withLock { if !$0.isOver { kill(identifier, SIGKILL) } }
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

    private static func reap(_ identifier: pid_t, _ processState: Locked<ProcessState>) {
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        var status: Int32 = 0
        processState.withLock { processState in
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            processState.isOver = true
            processState.end = outcome(status)
        }
    }

    private static func outcome(_ status: Int32) -> Outcome {
        let signal = status & 0x7f
        guard signal != 0 else { return .ended("ended with status \(status >> 8 & 0xff)") }
        return .ended("was ended by signal \(signal) (\(String(cString: strsignal(signal))))")
    }
}
