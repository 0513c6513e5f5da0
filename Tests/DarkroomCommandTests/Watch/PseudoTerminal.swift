import Darkroom
import DarkroomConcurrency
import DarkroomTestSupport
import Foundation
import Testing

/// A program on a terminal of 80 columns and 24 lines, with the output of the program.
///
/// Unchecked: `init` configures `process`; the other methods only send signals to it and wait for it.
final class PseudoTerminal: @unchecked Sendable {
    private let pair: TerminalPair
    private let process = Process()
    private let ended = DispatchSemaphore(value: 0)
    private let written = Locked<[UInt8]>([])
    private let outputArrived = Signal()
    private let settings: termios

    /// Starts the program on a new terminal.
    init(_ program: URL, _ arguments: [String], environment: [String: String]) throws {
        pair = try TerminalPair()
        var settings = termios()
        tcgetattr(pair.terminal, &settings)
        self.settings = settings
        process.executableURL = program
        process.arguments = arguments
        process.environment = environment.merging(["TERM": "xterm", "TZ": "UTC"]) { own, _ in own }
        let file = FileHandle(fileDescriptor: pair.terminal)
        process.standardInput = file
        process.standardOutput = file
        process.standardError = file
        process.terminationHandler = { [ended] _ in ended.signal() }
        resize(80, 24)
        // The thread must not retain this object: only `deinit` closes the terminal, which ends the thread.
        let reading = Thread { [pair, written, outputArrived] in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(pair.screen, &buffer, buffer.count)
                guard count > 0 || (count < 0 && errno == EINTR) else { break }
                if count > 0 { written.withLock { $0 += buffer[..<count] } }
                outputArrived.raise()
            }
            close(pair.screen)
        }
        reading.start()
        try process.runReceivingSignals()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        // When the program has ended too, no process has the terminal open. Then `read` fails, and the thread ends.
        close(pair.terminal)
    }

    /// Changes the size of the terminal.
    func resize(_ columns: UInt16, _ rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(pair.screen, UInt(TIOCSWINSZ), &size)
        // The kernel sends no SIGWINCH, since this is not a controlling terminal.
        if process.isRunning { send(SIGWINCH) }
    }

    /// Sends a signal to the program.
    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Sends keys to the program.
    func press(_ keys: String) { _ = keys.withCString { write(pair.screen, $0, strlen($0)) } }

    /// All output of the program, with escape sequences.
    var text: String { String(decoding: written.withLock { $0 }, as: UTF8.self) }

    /// Waits until the output after the position `mark` contains `awaited`, for at most 30 s. Returns where it ends.
    @discardableResult
    func waitFor(_ awaited: String, after mark: Int = 0) throws -> Int {
        let deadline = ContinuousClock.now + .seconds(30)
        while true {
            let bytes = written.withLock { $0 }
            let found = String(decoding: bytes.dropFirst(mark), as: UTF8.self)
            if let range = found.range(of: awaited) { return mark + found[..<range.upperBound].utf8.count }
            try #require(ContinuousClock.now < deadline, "\"\(awaited)\" was not written, but: \(found)")
            outputArrived.wait(timeout: .milliseconds(200))
        }
    }

    /// Waits for the end of the program, for at most 30 s, and for its last output. Returns its exit status.
    func status() throws -> Int32 {
        try #require(ended.wait(timeout: .now() + 30) == .success, "the program has not ended; it wrote: \(text)")
        // The terminal keeps the order of its input, so all output of the program arrives before this text.
        let end = "the end of what the program wrote"
        _ = end.withCString { write(pair.terminal, $0, strlen($0)) }
        try waitFor(end)
        written.withLock { $0.removeLast(end.utf8.count) }
        return process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
    }

    /// True if the terminal has the settings that it had before the program started.
    var isRestored: Bool {
        var now = termios()
        tcgetattr(pair.terminal, &now)
        return now.c_lflag == settings.c_lflag && now.c_iflag == settings.c_iflag && now.c_oflag == settings.c_oflag
    }
}
