import DarkroomTestSupport
import Foundation
import Testing

/// A process of the program `darkroom`, with its output.
///
/// Unchecked: `init` configures `process`; the other methods only send signals to it and wait for it.
final class Program: @unchecked Sendable {
    /// The exit status and the output of a finished process.
    struct Outcome {
        let status: Int32
        let standardOutput: String
        let standardError: String

        /// The JSON document on standard output.
        func json() throws -> Any { try JSONSerialization.jsonObject(with: Data(standardOutput.utf8)) }

        /// The lines on standard output.
        var lines: [String] { standardOutput.split(separator: "\n").map(String.init) }
    }

    /// The path of the program.
    static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("darkroom")

    private let process = Process()
    private let scratch: ScratchFolder
    /// The folder of the files with the output.
    var folder: URL { scratch.url }
    private let ended = DispatchSemaphore(value: 0)
    private let command: String

    /// Starts the program in the folder `place`, with `mounts`. The program has only the variables in `environment`,
    /// PATH and TZ. If `output` is a file, standard output goes to this file and is not in the outcome.
    init(
        _ arguments: [String], environment: [String: String] = [:], input: String = "/dev/null", output: String? = nil,
        in mounts: MountNamespace? = nil, at place: String? = nil
    ) throws {
        command = arguments.joined(separator: " ")
        scratch = try ScratchFolder()
        process.executableURL = mounts == nil ? Self.executable : URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = mounts?.command([Self.executable.path] + arguments) ?? arguments
        if let place { process.currentDirectoryURL = URL(fileURLWithPath: place) }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        process.environment = environment.merging(["PATH": path, "TZ": "UTC"]) { own, _ in own }
        let kept = folder.appendingPathComponent("out")
        try Data().write(to: kept)  // stays empty if there is another file for standard output
        let printed = try Self.file(output.map { URL(fileURLWithPath: $0) } ?? kept)
        let errors = try Self.file(folder.appendingPathComponent("err"))
        let read = try FileHandle(forReadingFrom: URL(fileURLWithPath: input))
        // The program has its own descriptors. Foundation may keep `process` and its files until the tests end, so the
        // descriptors of the tests are closed here. An error is ignored, since the tests write nothing to these files.
        defer {
            for file in [read, printed, errors] { try? file.close() }
        }
        process.standardInput = read
        process.standardOutput = printed
        process.standardError = errors
        process.terminationHandler = { [ended] _ in ended.signal() }
        try process.runReceivingSignals()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// Runs the program to its end.
    static func run(
        _ arguments: String..., environment: [String: String] = [:], input: String = "/dev/null"
    ) throws -> Outcome {
        try Program(arguments, environment: environment, input: input).outcome()
    }

    /// The process id.
    var identifier: Int32 { process.processIdentifier }

    /// Sends a signal.
    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Sends a signal repeatedly until the program has ended, for at most 60 s. The program may treat two signals in
    /// quick succession as one signal.
    func insist(_ signal: Int32) {
        for _ in 0..<1200 {
            send(signal)
            guard ended.wait(timeout: .now() + 0.05) == .timedOut else {
                ended.signal()
                return
            }
        }
    }

    /// Returns whether the program ends within `time`.
    func ends(within time: Duration) -> Bool {
        guard ended.wait(timeout: .now() + time / .seconds(1)) == .success else { return false }
        ended.signal()
        return true
    }

    /// Waits for the end of the program, for at most 60 s.
    func outcome() throws -> Outcome {
        if ended.wait(timeout: .now() + 60) == .timedOut {
            Issue.record("darkroom \(command) has not ended within 60 s; it printed: \(try text("err"))")
            send(SIGKILL)
            ended.wait()
        }
        return Outcome(
            status: process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus,
            standardOutput: try text("out"), standardError: try text("err"))
    }

    /// An output stream of the program.
    enum Stream: String {
        case standardOutput = "out"
        case standardError = "err"
    }

    /// Waits until the program has printed `awaited`, for at most 60 s.
    func waitFor(_ awaited: String, in stream: Stream = .standardError) throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !(try text(stream.rawValue)).contains(awaited) {
            guard ContinuousClock.now < deadline, process.isRunning else {
                let printed = try text(stream.rawValue)
                guard !printed.contains(awaited) else { return }
                Issue.record("darkroom \(command) has not printed \"\(awaited)\", but: \(printed)")
                return
            }
            // Polls, because a file does not signal its changes.
            usleep(5000)
        }
    }

    private func text(_ name: String) throws -> String {
        try String(decoding: Data(contentsOf: folder.appendingPathComponent(name)), as: UTF8.self)
    }

    private static func file(_ url: URL) throws -> FileHandle {
        if !FileManager.default.fileExists(atPath: url.path) { try Data().write(to: url) }
        return try FileHandle(forWritingTo: url)
    }
}
