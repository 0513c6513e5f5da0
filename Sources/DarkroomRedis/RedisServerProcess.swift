internal import CSystem
import DarkroomConcurrency
import DarkroomFiles
import DarkroomText
import Foundation

/// A redis-server of our own, on a Unix-domain socket; it ends with the process that started it, at the latest.
package final class RedisServerProcess: Sendable {
    /// How to reach it: by its socket.
    package let configuration: RedisConfiguration
    /// What it has logged: `redis.log` in its folder.
    package let logPath: String

    private let child: ChildProcess
    private let folder: Folder

    /// Starts a redis-server and waits until it serves; blocks.
    ///
    /// A server that loads a large data set is waited for as long as it says so.
    /// - Parameters:
    ///   - socketPath: Where its socket is to be; at most 107 bytes. Who may enter the folder may use the server.
    ///   - folder: Its working directory: append-only file, snapshots, log. It must exist.
    ///   - port: A TCP port of the loopback interface to listen to as well.
    ///   - arguments: More options as on redis-server's command line: `["--appendonly", "yes"]`. Without, it keeps
    ///     nothing on disk.
    package convenience init(
        socketPath: String, folder: String, port: Int? = nil, arguments: [String] = []
    ) throws(RedisError) {
        let opened: Folder
        do throws(SystemFailure) {
            opened = try Folder(trusted: folder)
        } catch {
            throw RedisError(
                .cannotStartServer, "start redis-server on \(socketPath)",
                "cannot use the folder \(folder): \(error.text)")
        }
        try self.init(socketPath: socketPath, folder: opened, path: folder, port: port, arguments: arguments)
    }

    /// Starts a redis-server as above in a folder that is open, whatever its path leads to by now.
    /// - Parameter path: what messages call the folder.
    package init(
        socketPath: String, folder: Folder, path: String, port: Int? = nil, arguments: [String] = []
    ) throws(RedisError) {
        self.folder = folder
        configuration = RedisConfiguration(address: .unix(path: socketPath))
        logPath = path + "/redis.log"
        let attempted = "start redis-server on \(socketPath)"
        guard socketPath.utf8.count <= 107 else {  // sun_path of unix(7), with its NUL
            throw RedisError(
                .cannotStartServer, attempted,
                "the path of a socket may have 107 bytes, this one has \(socketPath.utf8.count); use a shorter folder")
        }
        let log: Int32
        do throws(SystemFailure) {
            log = try folder.open(Self.logName, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, mode: 0o600)
        } catch {
            throw RedisError(.cannotStartServer, attempted, "cannot write \(logPath): \(error.text)")
        }
        defer { close(log) }
        let command = [
            "redis-server", "--port", "\(port ?? 0)", "--bind", "127.0.0.1", "--unixsocket", socketPath,
            "--unixsocketperm", "700", "--dir", ".", "--daemonize", "no", "--save", "",
        ]
        child = try ChildProcess(command + arguments, log: log, folder: folder, attempted)
        do {
            try waitUntilItServes(attempted)
        } catch {
            child.terminate()
            throw error
        }
    }

    deinit { child.terminate() }

    /// The id of its process.
    package var processIdentifier: Int32 { child.identifier }

    /// Ends it (SIGTERM, so it saves what it is configured to save) and waits for its end. Again: does nothing.
    package func terminate() { child.terminate() }

    private func waitUntilItServes(_ attempted: String) throws(RedisError) {
        let patience = Duration.seconds(10)
        var deadline = ContinuousClock.now + patience
        while true {
            do throws(RedisError) {
                _ = try Session(configuration)
                return
            } catch {
                if error.serverErrorName == "LOADING" { deadline = .now + patience }
                guard ContinuousClock.now < deadline else {
                    throw RedisError(
                        .cannotStartServer, attempted, "it does not answer: \(error.message); see \(logPath)")
                }
            }
            if child.hasEnded(within: .milliseconds(5)) {
                throw RedisError(.cannotStartServer, attempted, "it ended at once; its log says:\n\(endOfLog)")
            }
        }
    }

    private static let logName = "redis.log"

    private var endOfLog: String {
        let log = (try? folder.contents(of: Self.logName, maxBytes: 1 << 26)) ?? []
        return String(decoding: log, as: UTF8.self).split(separator: "\n").suffix(5).joined(separator: "\n")
    }
}

/// A child process, with the thread that started it and waits for its end (the kernel ends the child when that thread
/// does, so it must be one that lives as long).
private final class ChildProcess: Sendable {
    private enum State {
        case running
        case ended
    }

    let identifier: pid_t

    private let state: Locked<State>
    private let thread: OwnedThread

    init(_ arguments: [String], log: Int32, folder: Folder, _ attempted: String) throws(RedisError) {
        let state = Locked(State.running)
        let started = DispatchSemaphore(value: 0)
        let outcome = Locked((identifier: pid_t(-1), error: Int32(0)))
        thread = OwnedThread("child") {
            // Passwords of other servers are nothing for this one.
            let environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("DARKROOM_") }
            var pointers = arguments.map { strdup($0) } + [nil]
            var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
            let identifier = csystem_spawn_bound(&pointers, &variables, log, folder.descriptor)
            let error = errno
            outcome.withLock { $0 = (identifier, error) }
            (pointers + variables).forEach { free($0) }
            started.signal()
            guard identifier > 0 else { return }

            var information = siginfo_t()
            while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
            // Reaped under the lock: until then the id cannot belong to another process.
            state.withLock {
                waitpid(identifier, nil, 0)
                $0 = .ended
            }
        }
        started.wait()
        let (identifier, error) = outcome.withLock { $0 }
        guard identifier > 0 else {
            let advice = error == ENOENT ? "; install it (Debian: apt install redis-server)" : ""
            throw RedisError(.cannotStartServer, attempted, systemErrorText(error) + advice)
        }
        self.identifier = identifier
        self.state = state
    }

    func hasEnded(within duration: Duration) -> Bool { thread.join(timeout: duration) }

    func terminate() {
        send(SIGTERM)
        if !hasEnded(within: .seconds(30)) {
            send(SIGKILL)
            thread.join()
        }
    }

    private func send(_ signal: Int32) {
        state.withLock { if $0 == .running { kill(identifier, signal) } }
    }
}
