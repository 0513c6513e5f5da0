import Darkroom
import DarkroomConcurrency
import DarkroomTestSupport
import Foundation
import Testing

/// A terminal of 80 columns and 24 lines that a program runs on, and what the program has written to it.
///
/// Unchecked: `process` is set up in `init`; from then on it is only signalled and waited for.
final class PseudoTerminal: @unchecked Sendable {
    private let pair: TerminalPair
    private let process = Process()
    private let ended = DispatchSemaphore(value: 0)
    private let written = Locked<[UInt8]>([])
    private let news = Signal()
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
        try process.runReceivingSignals()
        let reading = Thread { [self] in read() }
        reading.start()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        pair.close()
    }

    /// Gives the terminal another size.
    func resize(_ columns: UInt16, _ rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(pair.screen, UInt(TIOCSWINSZ), &size)
        // It is no controlling terminal, so that the kernel tells nobody.
        if process.isRunning { send(SIGWINCH) }
    }

    /// Sends a signal to the program.
    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Presses keys.
    func press(_ keys: String) { _ = keys.withCString { write(pair.screen, $0, strlen($0)) } }

    /// All that was written, with escape sequences.
    var text: String { String(decoding: written.withLock { $0 }, as: UTF8.self) }

    /// Waits until `awaited` was written behind what `mark` had been, 30 s at most; where it ends.
    @discardableResult
    func waitFor(_ awaited: String, after mark: Int = 0) throws -> Int {
        let deadline = ContinuousClock.now + .seconds(30)
        while true {
            let bytes = written.withLock { $0 }
            let found = String(decoding: bytes.dropFirst(mark), as: UTF8.self)
            if let range = found.range(of: awaited) { return mark + found[..<range.upperBound].utf8.count }
            try #require(ContinuousClock.now < deadline, "\"\(awaited)\" was not written, but: \(found)")
            news.wait(timeout: .milliseconds(200))
        }
    }

    /// Waits for the end of the program, 30 s at most, and for all that it has written.
    func status() throws -> Int32 {
        try #require(ended.wait(timeout: .now() + 30) == .success, "the program has not ended; it wrote: \(text)")
        // The terminal hands on in order, so all that was written before this has been read when this has.
        let end = "the end of what the program wrote"
        _ = end.withCString { write(pair.terminal, $0, strlen($0)) }
        try waitFor(end)
        written.withLock { $0.removeLast(end.utf8.count) }
        return process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
    }

    /// True when the settings are those from before the program.
    var isRestored: Bool {
        var now = termios()
        tcgetattr(pair.terminal, &now)
        return now.c_lflag == settings.c_lflag && now.c_iflag == settings.c_iflag && now.c_oflag == settings.c_oflag
    }

    private func read() {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(pair.screen, &buffer, buffer.count)
            guard count > 0 || (count < 0 && errno == EINTR) else { return }
            if count > 0 { written.withLock { $0 += buffer[..<count] } }
            news.raise()
        }
    }
}
