import CSystem
import DarkroomTransfer
import Foundation

/// A command that a supervisor runs. Used by one thread at a time.
final class RunningCommand: @unchecked Sendable {  // used by one thread at a time, see `FilterCommand`
    /// Why the worker stopped waiting for a command.
    enum Stop: Error {
        case cancelled
        /// A time limit was exceeded.
        case late(String)
        /// The command printed too much, or an invalid answer.
        case invalid(String)
        case supervisorLost
    }

    /// The time limits of one exchange.
    struct Allowance {
        let time: Duration
        /// The CPU time of the program of the command; nil for no check.
        let processorTime: Duration?
    }

    let supervisor: CommandSupervisor
    private let identifier: pid_t
    private let pipes: CommandPipes
    /// How the command ended; nil while it runs.
    private(set) var end: csystem_command_end?
    private var printedErrors: [UInt8] = []

    /// The interval at which a waiting exchange checks for a cancellation and for the time limits.
    private static let pollMilliseconds: Int32 = 20
    private static let chunkBytes = 256 << 10
    private static let maxErrorBytes = 64 << 20
    /// The bytes of the standard error that are kept: 1,000 scalars of up to 4 bytes.
    private static let keptErrorBytes = 4 * HelperAnswer.maxDetail

    init(_ identifier: pid_t, of supervisor: CommandSupervisor, _ pipes: CommandPipes) {
        self.identifier = identifier
        self.supervisor = supervisor
        self.pipes = pipes
    }

    /// Ends the command and its supervisor, and waits until all processes of the command have ended.
    func stop() { supervisor.end(command: identifier) }

    /// Whether the worker can write to the standard input of the command: neither side is known to have closed it.
    var hasInput: Bool { pipes.input >= 0 }

    /// Whether the command waits for its next photo: it is running, and has printed nothing since its last answer.
    var isIdle: Bool {
        var events = [pollfd(fd: supervisor.descriptor, events: Int16(POLLIN), revents: 0)]
        events.append(pollfd(fd: pipes.output, events: Int16(POLLIN), revents: 0))
        return hasInput && poll(&events, 2, 0) == 0
    }

    /// Writes `pieces` to the command, and passes the command's output to `receive` as it arrives. Returns when the
    /// command has ended, or when `receive` has returned true and all pieces are written. Blocks SIGPIPE on this thread
    /// permanently.
    /// - Parameters:
    ///   - closesInput: whether the standard input is closed after the last piece.
    ///   - receive: gets the next bytes of the standard output, and returns whether the answer is complete.
    func exchange(
        _ pieces: [[UInt8]], closesInput: Bool, within allowance: Allowance, isCancelled: () -> Bool,
        receive: (UnsafeRawBufferPointer) throws(Stop) -> Bool
    ) throws(Stop) {
        blockBrokenPipeSignal()
        let began = ContinuousClock.now
        var nextCheck = began
        let used = allowance.processorTime == nil ? 0 : csystem_processor_time(identifier)
        var (piece, written) = (0, 0)
        var isComplete = false
        var (hasOutput, hasErrors) = (true, true)
        var errorBytes = 0
        printedErrors = []
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkBytes, alignment: 16)
        defer { chunk.deallocate() }

        func readOutput() throws(Stop) {
            while hasOutput {
                let count = read(pipes.output, chunk.baseAddress, chunk.count)
                if count > 0 {
                    isComplete = try receive(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
                    if count < chunk.count, end == nil { return }
                } else if count == 0 {
                    hasOutput = false
                } else if errno != EINTR {
                    return
                }
            }
        }

        while true {
            while hasInput, piece < pieces.count {
                let count = pieces[piece].withUnsafeBytes { bytes in
                    bytes.count == written ? 0 : write(pipes.input, bytes.baseAddress! + written, bytes.count - written)
                }
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN { break }
                if count < 0 { pipes.closeInput() }  // EPIPE: a command need not read its input
                written += max(0, count)
                if written == pieces[piece].count { (piece, written) = (piece + 1, 0) }
            }
            if closesInput, piece == pieces.count { pipes.closeInput() }
            if isComplete, piece == pieces.count || !hasInput { return }

            var events = [
                pollfd(fd: supervisor.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: hasOutput ? pipes.output : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: hasErrors ? pipes.errors : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: piece < pieces.count ? pipes.input : -1, events: Int16(POLLOUT), revents: 0),
            ]
            poll(&events, 4, Self.pollMilliseconds)
            if events[0].revents != 0 {
                do { end = try supervisor.commandEnd() } catch { throw .supervisorLost }
            }
            if events[1].revents != 0 || end != nil { try readOutput() }
            if events[2].revents != 0 || end != nil {
                let count = readErrors(chunk)
                hasErrors = count > 0
                errorBytes += count
                guard errorBytes <= Self.maxErrorBytes else {
                    throw .invalid("it printed more than \(Self.maxErrorBytes >> 20) MiB to standard error")
                }
            }
            if end != nil { return }
            if isCancelled() { throw .cancelled }
            let now = ContinuousClock.now
            guard now >= nextCheck else { continue }
            nextCheck = now + .milliseconds(Self.pollMilliseconds)
            if now - began > allowance.time { throw .late("it took longer than \(allowance.time)") }
            if let limit = allowance.processorTime,
                .nanoseconds(csystem_processor_time(identifier) - used) > limit
            {
                throw .late("it used more than \(limit) of processor time")
            }
        }
    }

    /// The standard error of the last exchange, shortened to `most` Unicode scalars, see ``CommandErrors/text(most:)``.
    func lastErrors(most: Int) -> String {
        CommandErrors(String(decoding: printedErrors, as: UTF8.self)).text(most: most)
    }

    /// Reads the available standard error. Returns the number of bytes, which is 0 if the command has closed its
    /// standard error.
    private func readErrors(_ chunk: UnsafeMutableRawBufferPointer) -> Int {
        let count = read(pipes.errors, chunk.baseAddress, chunk.count)
        guard count > 0 else { return 0 }
        printedErrors += UnsafeRawBufferPointer(rebasing: chunk[..<count]).suffix(Self.keptErrorBytes)
        printedErrors.removeFirst(max(0, printedErrors.count - Self.keptErrorBytes))
        return count
    }
}
