internal import CSystem
import DarkroomConcurrency
import DarkroomFiles
import DarkroomText
import Foundation

/// A private redis-server on a Unix-domain socket. When the process that started the server ends, the kernel stops the
/// server with SIGTERM.
package final class RedisServerProcess: Sendable {
    /// The configuration for connections to this server through its socket.
    package let configuration: RedisConfiguration
    /// The path of the server's log: `redis.log` in the folder of the server.
    package let logPath: String

    private let child: ChildProcess
    private let folder: Folder

    /// Starts a redis-server, and blocks until it is ready.
    ///
    /// A start may take at most 10 s, excluding the time in which the server replies LOADING.
    /// - Parameters:
    ///   - socketPath: The path of the socket, at most 107 bytes. Users with access to the socket's folder can use the
    ///     server.
    ///   - folder: The server's working directory, for the append-only file, snapshots and log. Must exist.
    ///   - port: A TCP port on the loopback interface. The server listens on this port in addition to the socket.
    ///   - arguments: Additional command line options for redis-server, for example `["--appendonly", "yes"]`. By
    ///     default, the server does not write data to disk.
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

    /// Starts a redis-server in an open folder. The folder may have been renamed after it was opened.
    /// - Parameter path: The path of the folder in messages.
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
                "a socket path may have at most 107 bytes, this one has \(socketPath.utf8.count); use a shorter folder")
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

    package var processIdentifier: Int32 { child.identifier }

    /// Stops the server with SIGTERM, so that the server saves its data as configured, and waits until the server has
    /// ended.
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

/// A child process, and the thread that starts the child and waits until it has ended. The kernel stops the child when
/// this thread ends, so the thread must run until the child has ended.
private final class ChildProcess: Sendable {
    let identifier: pid_t

    private let isRunning: Locked<Bool>
    private let thread: OwnedThread

    private static let inherited: Set = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH"]

    init(_ arguments: [String], log: Int32, folder: Folder, _ attempted: String) throws(RedisError) {
        let isRunning = Locked(true)
        let started = DispatchSemaphore(value: 0)
        let outcome = Locked((identifier: pid_t(-1), error: Int32(0)))
        thread = OwnedThread("child") {
            // The child does not get other variables, because they may contain passwords.
            let environment = ProcessInfo.processInfo.environment.filter { Self.inherited.contains($0.key) }
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
            // The lock is held while the child is reaped, because another process may get the child's id as soon as the
            // child is reaped.
            isRunning.withLock {
                waitpid(identifier, nil, 0)
                $0 = false
            }
        }
        started.wait()
        let (identifier, error) = outcome.withLock { $0 }
        guard identifier > 0 else {
            let advice = error == ENOENT ? "; install it (Debian: apt install redis-server)" : ""
            throw RedisError(.cannotStartServer, attempted, systemErrorText(error) + advice)
        }
        self.identifier = identifier
        self.isRunning = isRunning
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
        isRunning.withLock { if $0 { kill(identifier, signal) } }
    }
}
