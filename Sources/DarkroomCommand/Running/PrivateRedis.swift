import Darkroom
import Foundation

/// The Redis of a run: its data lie in the run's folder, its socket in a folder of its own that nobody else may enter.
final class PrivateRedis {
    /// How to reach it.
    let configuration: RedisConfiguration

    private let process: RedisServerProcess
    private let socketFolder: String
    private let urlPath: String

    /// Starts it with what it has kept, once the server of an earlier run has ended.
    init(in folder: RunFolder) throws {
        let data = folder.path + "/redis"
        urlPath = folder.path + "/redis.url"
        guard mkdir(data, 0o700) == 0 || errno == EEXIST else {
            throw CommandError("make \(data): \(String(cString: strerror(errno)))")
        }
        try Self.endLeftover(data)
        Self.removeSocketFolder(named: urlPath)

        socketFolder = try Self.makeSocketFolder()
        let socket = socketFolder + "/redis.sock"
        do {
            try Data("unix://\(socket)\n".utf8).write(to: URL(fileURLWithPath: urlPath))
            process = try RedisServerProcess(
                socketPath: socket, folder: data, arguments: ["--appendonly", "yes", "--appendfsync", "everysec"])
        } catch {
            Self.removeSocketFolder(named: urlPath)
            throw error
        }
        configuration = process.configuration
    }

    /// False when it has ended, which it does not by itself.
    var isRunning: Bool { kill(process.processIdentifier, 0) == 0 }

    /// Throws when it has ended.
    func checkRunning() throws {
        guard !isRunning else { return }
        throw CommandError(
            "the private Redis of this run has ended (its log: \(process.logPath)); the same command goes on from there"
        )
    }

    /// Ends it; what it has is kept.
    func close() {
        process.terminate()
        Self.removeSocketFolder(named: urlPath)
    }

    /// Removes what the Redis of a folder has kept, which must not run.
    static func forget(in folder: RunFolder) throws {
        let data = folder.path + "/redis"
        try endLeftover(data)
        // Left behind, the old queue would be loaded again as the new one.
        if FileManager.default.fileExists(atPath: data) { try FileManager.default.removeItem(atPath: data) }
    }

    /// The server of a run that was killed ends by itself a little later, and must not write any more when this one reads.
    private static func endLeftover(_ data: String) throws {
        for process in processes(workingIn: data) {
            kill(process, SIGTERM)
            let deadline = ContinuousClock.now + .seconds(20)
            while processes(workingIn: data).contains(process) {
                guard ContinuousClock.now < deadline else {
                    throw CommandError(
                        "the redis-server of an earlier run (process \(process)) does not end; end it by kill -9")
                }
                usleep(10_000)  // not a child of this process: its end is told by no signal
            }
        }
    }

    /// The redis-servers whose working folder is `data`, as proc(5) tells.
    private static func processes(workingIn data: String) -> [pid_t] {
        guard let resolved = realpath(data, nil) else { return [] }
        defer { free(resolved) }
        let folder = String(cString: resolved)
        // Processes come and go while they are looked at; one that is gone, or another user's, is none of ours.
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap { pid_t($0) }.filter { process in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd")) == folder
                && (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)) == "redis-server\n"
        }
    }

    /// A folder with mode 0700 below XDG_RUNTIME_DIR or /tmp: an output folder's path may be too long for a socket.
    private static func makeSocketFolder() throws -> String {
        let runtime = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? ""
        for parent in [runtime, "/tmp"] where parent.hasPrefix("/") {
            var template = Array((parent + "/" + socketFolderPrefix + "XXXXXX").utf8CString)
            if mkdtemp(&template) != nil { return String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self) }
        }
        throw CommandError("make a folder for the socket of Redis in /tmp: \(String(cString: strerror(errno)))")
    }

    private static let socketFolderPrefix = "darkroom-run-"

    /// Removes the socket folder that the file at `urlPath` names, and the file.
    private static func removeSocketFolder(named urlPath: String) {
        // No such file: there is no folder to remove. An empty folder that stays does no harm.
        guard let url = try? String(contentsOfFile: urlPath, encoding: .utf8) else { return }
        let socket = url.trimmingCharacters(in: .newlines).dropFirst("unix://".count)
        let folder = socket.dropLast("/redis.sock".count)
        if folder.split(separator: "/").last?.hasPrefix(socketFolderPrefix) == true {
            try? FileManager.default.removeItem(atPath: String(folder))
        }
        unlink(urlPath)
    }
}
