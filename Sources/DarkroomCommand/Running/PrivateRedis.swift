import Darkroom
import DarkroomFiles
import Foundation

/// The Redis of a run: its data lie in the run's folder, its socket in a folder of its own that nobody else may enter.
final class PrivateRedis {
    /// How to reach it.
    let configuration: RedisConfiguration

    private let process: RedisServerProcess
    private let folder: RunFolder

    private static let dataName = "redis"
    private static let urlName = "redis.url"

    /// Starts it with what it has kept, once the server of an earlier run has ended.
    init(in folder: RunFolder) throws {
        self.folder = folder
        let path = folder.path + "/" + Self.dataName
        do {
            let data = try folder.state.makePrivateFolder(Self.dataName)
            try Self.endLeftover(data)
            Self.removeSocketFolder(of: folder)

            let socket = try Self.makeSocketFolder() + "/" + Self.socketName
            do {
                try folder.state.replace(Self.urlName, with: Array("unix://\(socket)\n".utf8))
                process = try RedisServerProcess(
                    socketPath: socket, folder: data, path: path,
                    arguments: ["--appendonly", "yes", "--appendfsync", "everysec"])
            } catch {
                Self.removeSocketFolder(of: folder)
                throw error
            }
        } catch let failure as SystemFailure {
            throw CommandError("\(failure.attempted) \(path): \(failure.text)")
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
        Self.removeSocketFolder(of: folder)
    }

    /// The URL of the Redis of a run that works at the moment; nil if there is no readable `redis.url`, as no run works then.
    /// - Parameter state: the folder `.darkroom` of the run.
    static func url(in state: Folder) -> String? {
        guard let text = try? state.contents(of: urlName, maxBytes: 4096) else { return nil }
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// Removes what the Redis of a folder has kept, which must not run.
    static func forget(in folder: RunFolder) throws {
        do {
            guard try folder.state.status(of: dataName) != nil else { return }
            try endLeftover(folder.state.makePrivateFolder(dataName))
            // Left behind, the old queue would be loaded again as the new one.
            try folder.state.removeTree(dataName)
        } catch let failure as SystemFailure {
            throw CommandError("\(failure.attempted) \(folder.path)/\(dataName): \(failure.text)")
        }
    }

    /// The server of a run that was killed ends by itself a little later, and must not write any more when this one reads.
    private static func endLeftover(_ data: Folder) throws {
        for process in try processes(workingIn: data) {
            kill(process, SIGTERM)
            let deadline = ContinuousClock.now + .seconds(20)
            while try processes(workingIn: data).contains(process) {
                guard ContinuousClock.now < deadline else {
                    throw CommandError(
                        "the redis-server of an earlier run (process \(process)) does not end; end it by kill -9")
                }
                usleep(10_000)  // not a child of this process: its end is told by no signal
            }
        }
    }

    /// The redis-servers whose working folder is `data`, as proc(5) tells.
    private static func processes(workingIn data: Folder) throws(SystemFailure) -> [pid_t] {
        let folder = try data.status()
        // Processes come and go while they are looked at; one that is gone, or another user's, is none of ours.
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap { pid_t($0) }.filter { process in
            var status = stat()
            return stat("/proc/\(process)/cwd", &status) == 0
                && status.st_dev == folder.st_dev && status.st_ino == folder.st_ino
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
    private static let socketName = "redis.sock"

    /// Removes the socket folder that the file of a run names, and the file.
    private static func removeSocketFolder(of run: RunFolder) {
        // Cleaning up is best effort. Without the file there is no folder to remove, and a folder that cannot be opened or is not
        // private is left alone. A socket or an empty folder that remains does no harm: each run makes a new one.
        guard let text = try? run.state.contents(of: urlName, maxBytes: 4096) else { return }
        let socket = String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines).dropFirst("unix://".count)
        let path = socket.dropLast(socketName.count + 1)
        if let slash = path.lastIndex(of: "/"), path[path.index(after: slash)...].hasPrefix(socketFolderPrefix),
            let parent = try? Folder(trusted: String(path[...slash])),
            let folder = try? parent.folder(String(path[path.index(after: slash)...])),
            (try? folder.requirePrivate()) != nil
        {
            try? folder.remove(socketName)
            try? parent.removeFolder(String(path[path.index(after: slash)...]))
        }
        try? run.state.remove(urlName)
    }
}
