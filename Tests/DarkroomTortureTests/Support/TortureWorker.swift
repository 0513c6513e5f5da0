import DarkroomTestSupport
import Foundation

/// A process of `darkroom worker`. It ends at the latest with the test process.
final class TortureWorker: Sendable {
    /// The tested program.
    static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("darkroom").path

    /// The environment variable that contains the mark. Helpers inherit it, but not Darkroom's own variables.
    private static let variable = "TORTURE_CLUSTER"

    /// The log file; the log level is debug.
    let log: String
    private let process: BoundProcess

    /// Starts the worker. The worker and its child processes have `mark` in their environment.
    init(redisURL: String, namespace: String, arguments: [String], log: String, mark: String) throws {
        self.log = log
        let words =
            [
                "env", "\(Self.variable)=\(mark)", Self.program, "worker", "--redis", redisURL, "--namespace",
                namespace, "--allow-private",
            ]
            + ["--per-host", "32", "--log-level", "debug"] + arguments
        process = try BoundProcess(words, log: log)
    }

    /// The process id.
    var processIdentifier: Int32 { process.identifier }

    /// The worker id in Redis. Waits at most 30 s until the worker has logged it.
    var id: String {
        get throws {
            let deadline = ContinuousClock.now + .seconds(30)
            while true {
                let text = logged
                if let line = text.split(separator: "\n").first(where: { $0.contains("worker started") }),
                    let id = line.firstMatch(of: /worker=(\S+)/)?.1
                {
                    return String(id)
                }
                guard ContinuousClock.now < deadline, !hasEnded else {
                    throw TortureFailure("the worker \(processIdentifier) has not started: \(text.suffix(2000))")
                }
                // Polls the file, since its changes are not signalled.
                usleep(5000)
            }
        }
    }

    /// The log so far.
    var logged: String {
        FileManager.default.contents(atPath: log).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Whether a worker id in Redis belongs to this process: `<host>-<process id>-<random>`.
    func isCalled(_ id: some StringProtocol) -> Bool {
        id.split(separator: "-").dropLast().last.map { $0 == "\(processIdentifier)" } ?? false
    }

    /// Whether the process has ended.
    var hasEnded: Bool { process.wait(within: .zero) }

    /// Waits for the end of the process.
    /// - Returns: false after the timeout.
    func waitForEnd(within timeout: Duration) -> Bool { process.wait(within: timeout) }

    /// Sends SIGKILL and waits for the end.
    func kill() { process.stop() }

    /// Sends SIGTERM for an orderly stop. Returns at once.
    func stop() { send(SIGTERM) }

    /// Sends SIGSTOP and waits until all threads are stopped.
    func suspend() throws {
        send(SIGSTOP)
        let deadline = ContinuousClock.now + .seconds(10)
        while !threadStates.allSatisfy({ $0 == "T" || $0 == "t" }) {
            guard ContinuousClock.now < deadline else {
                throw TortureFailure("the worker \(processIdentifier) does not stop: \(threadStates)")
            }
            usleep(500)
        }
    }

    /// Sends SIGCONT.
    func resume() { send(SIGCONT) }

    private func send(_ signal: Int32) {
        if !hasEnded { Foundation.kill(processIdentifier, signal) }
    }

    /// The states of the threads of the process (proc(5)); empty after the end of the process.
    private var threadStates: [Character] {
        let folder = "/proc/\(processIdentifier)/task"
        // If the process or a thread has ended, its files in /proc are missing.
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { thread in
            let text = FileManager.default.contents(atPath: "\(folder)/\(thread)/stat") ?? Data()
            // The program name, in parentheses, may contain any character.
            return String(decoding: text, as: UTF8.self).split(separator: ")").last?.first { $0 != " " }
        }
    }

    /// The ids of all worker processes with this mark and their child processes.
    static func processes(markedBy mark: String) -> [String] {
        let wanted = Data("\(variable)=\(mark)".utf8)
        // If a process has ended, its files in /proc are missing.
        return ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).filter { name in
            Int(name) != nil
                && FileManager.default.contents(atPath: "/proc/\(name)/environ")?.range(of: wanted) != nil
        }
    }
}
