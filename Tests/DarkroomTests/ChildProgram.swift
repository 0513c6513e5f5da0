import DarkroomTestSupport
import Foundation
import Testing

/// A program that a test runs to its end.
struct ChildProgram {
    /// The folder of the programs that are built with the tests.
    static let built = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

    let program: URL
    let arguments: [String]
    /// The working folder of the program.
    let folder: String

    /// Runs the program, by default for at most 60 s.
    /// - Returns: The exit status, and the output on standard output and standard error.
    func run(within limit: Duration = .seconds(60)) throws -> (status: Int32, text: String) {
        let path = folder + "/\(UUID().uuidString).out"
        try Data().write(to: URL(fileURLWithPath: path))
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        // Foundation may keep `process` and its file until the tests end. See `Program` of the command's tests.
        defer { try? output.close() }
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.runReceivingSignals()
        if ended.wait(timeout: .now() + limit / .seconds(1)) == .timedOut {
            Issue.record("\(program.lastPathComponent) has not ended within \(limit)")
            kill(process.processIdentifier, SIGKILL)
            ended.wait()
        }
        return (process.terminationStatus, try String(contentsOfFile: path, encoding: .utf8))
    }
}
