import DarkroomTestSupport
import Foundation

/// A real worker: a process of the built `darkroom worker`. It ends with the test process.
final class TortureWorker: Sendable {
    /// The program that is tested.
    static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("darkroom").path

    /// Helpers inherit what is not Darkroom's own.
    private static let variable = "TORTURE_CLUSTER"

    /// The file that it logs to, at level debug.
    let log: String
    private let process: BoundProcess

    /// Starts it; all processes that come of it have `mark` in their environment.
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

    /// The id of its process.
    var processIdentifier: Int32 { process.identifier }

    /// What it is called in Redis; waits until it has said so, 30 s at most.
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
                // A file has no signal to wait for.
                usleep(5000)
            }
        }
    }

    /// Everything that it has logged.
    var logged: String {
        FileManager.default.contents(atPath: log).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Whether an id in Redis is this process's: `<host>-<process id>-<random>`.
    func isCalled(_ id: some StringProtocol) -> Bool {
        id.split(separator: "-").dropLast().last.map { $0 == "\(processIdentifier)" } ?? false
    }

    /// Whether its process has ended.
    var hasEnded: Bool { process.wait(within: .zero) }

    /// Waits for its end.
    /// - Returns: false when the time passed first.
    func waitForEnd(within timeout: Duration) -> Bool { process.wait(within: timeout) }

    /// SIGKILL; waits for its end.
    func kill() { process.stop() }

    /// SIGTERM: it stops in order. Returns at once.
    func stop() { send(SIGTERM) }

    /// SIGSTOP; waits until it stands still.
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

    /// SIGCONT.
    func resume() { send(SIGCONT) }

    private func send(_ signal: Int32) {
        if !hasEnded { Foundation.kill(processIdentifier, signal) }
    }

    /// What each of its threads does, as proc(5) has it; none once it has ended.
    private var threadStates: [Character] {
        let folder = "/proc/\(processIdentifier)/task"
        // A process or a thread that has ended has no files: it does nothing any more.
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { thread in
            let text = FileManager.default.contents(atPath: "\(folder)/\(thread)/stat") ?? Data()
            // The name in parentheses may hold anything.
            return String(decoding: text, as: UTF8.self).split(separator: ")").last?.first { $0 != " " }
        }
    }

    /// The ids of all processes that come of workers with this mark.
    static func processes(markedBy mark: String) -> [String] {
        let wanted = Data("\(variable)=\(mark)".utf8)
        // One that ends meanwhile has no files any more.
        return ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).filter { name in
            Int(name) != nil
                && FileManager.default.contents(atPath: "/proc/\(name)/environ")?.range(of: wanted) != nil
        }
    }
}
