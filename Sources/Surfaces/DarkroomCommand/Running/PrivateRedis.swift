import Darkroom
import DarkroomFiles
import DarkroomRedis
import DarkroomText
import Foundation

/// The private redis-server of a run. Its data are in the folder of the run; its socket is in a separate folder that
/// other users cannot enter.
final class PrivateRedis {
    let configuration: RedisConfiguration

    private let process: RedisServerProcess
    private let folder: RunFolder
    /// Holds the lock of the folder while the object exists.
    private let socketFolder: SocketFolder

    private static let dataName = "redis"
    private static let urlName = "redis.url"

    /// The commands that `darkroom run` never sends to its server. A redis-server executes what its append-only file
    /// contains, and the files of an output folder may come from an archive or a share. A server without a command does
    /// not load a file that contains the command, and rejects the command in scripts.
    private static let disabledCommands = [
        "ACL", "CLUSTER", "CONFIG", "DEBUG", "FAILOVER", "FCALL", "FCALL_RO", "FUNCTION", "MIGRATE", "MODULE",
        "MONITOR", "PSYNC", "REPLICAOF", "RESTORE", "SHUTDOWN", "SLAVEOF", "SYNC",
    ]

    /// Options that make the server persistent, and protect it against data that another program has written.
    private static let arguments =
        ["--appendonly", "yes", "--appendfsync", "everysec", "--sanitize-dump-payload", "yes"]
        + disabledCommands.flatMap { ["--rename-command", $0, ""] }

    /// Ends the server of an earlier run, if it is still running, and starts a server with the data of the folder.
    init(in folder: RunFolder) throws {
        self.folder = folder
        let path = folder.path + "/" + Self.dataName
        do {
            let data = try folder.state.makePrivateFolder(Self.dataName)
            try Self.endStaleServer(data)
            try Self.requirePlainFiles(data, path)
            Self.removeSocketFolder(of: folder)

            socketFolder = try Self.makeSocketFolder()
            let socket = socketFolder.path + "/" + Self.socketName
            do {
                try folder.state.replace(Self.urlName, with: Array("unix://\(socket)\n".utf8))
                process = try Self.start(socket, data, path)
            } catch let error as RedisError where error.message.contains("append only file") {
                Self.removeSocketFolder(of: folder)
                throw Self.refusal(ofDataIn: path, error.message)
            } catch {
                Self.removeSocketFolder(of: folder)
                throw error
            }
        } catch let failure as SystemFailure {
            throw CommandError("\(failure.attempted) \(path): \(failure.text)")
        }
        configuration = process.configuration
    }

    /// Starts the server. If the server has cut off the torn end of its append-only file, starts it again.
    ///
    /// A server that was killed may have written only a part of a transaction. When Redis 7.0 loads such a file, it cuts
    /// the file after the last complete command, but it does not execute the unfinished transaction. If the server
    /// appended to this file, the next server would execute the first commands of the transaction. Therefore the server
    /// is started again before anything is appended: it finds only complete commands, and removes the unfinished
    /// transaction.
    private static func start(_ socket: String, _ data: Folder, _ path: String) throws -> RedisServerProcess {
        var sizes = try fileSizes(data)
        for _ in 0..<mostStarts {
            let server = try RedisServerProcess(socketPath: socket, folder: data, path: path, arguments: arguments)
            let before = sizes
            sizes = try fileSizes(data)
            if !sizes.contains(where: { name, size in size < before[name] ?? 0 }) { return server }
            server.terminate()
        }
        throw refusal(ofDataIn: path, "each start shortens the append-only file")
    }

    /// Usually the first two starts shorten the file, and the third start finds it complete.
    private static let mostStarts = 5
    private static let dataFolder = "appendonlydir"

    /// The sizes of the files that the server loads.
    private static func fileSizes(_ data: Folder) throws -> [String: Int] {
        guard try data.status(of: dataFolder) != nil else { return [:] }
        let files = try data.folder(dataFolder)
        return try files.names().reduce(into: [:]) { $0[$1] = try files.status(of: $1).map { Int($0.st_size) } }
    }

    /// Throws unless all data files are regular files with a single hard link, because a redis-server follows links and
    /// appends to their targets.
    private static func requirePlainFiles(_ data: Folder, _ path: String) throws {
        try requirePlainFiles(data, path, besides: dataFolder)
        guard try data.status(of: dataFolder) != nil else { return }
        try requirePlainFiles(data.folder(dataFolder), path)
    }

    private static func requirePlainFiles(_ folder: Folder, _ path: String, besides subfolder: String? = nil) throws {
        for name in try folder.names() {
            guard let status = try folder.status(of: name) else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFREG where status.st_nlink == 1: continue
            case S_IFREG: throw refusal(ofDataIn: path, "\(name) has several hard links")
            case S_IFDIR where name == subfolder: continue
            case S_IFLNK: throw refusal(ofDataIn: path, "\(name) is a symbolic link")
            default: throw refusal(ofDataIn: path, "\(name) is not a regular file")
            }
        }
    }

    private static func refusal(ofDataIn path: String, _ found: String) -> CommandError {
        CommandError(
            "the private Redis of this run does not load \(path)/appendonlydir: the data are damaged, or another program has "
                + "written them, so they were not used (\(found)). If the output folder comes from an archive or from "
                + "another user, do not trust it. --again removes \(path) and develops all photos again over the same files"
        )
    }

    /// Whether the server is running. Before ``close()``, the server ends only after an error.
    var isRunning: Bool { kill(process.processIdentifier, 0) == 0 }

    func checkRunning() throws {
        guard !isRunning else { return }
        throw CommandError(
            "the private Redis of this run has ended (its log: \(process.logPath)); run the same command again to continue"
        )
    }

    /// Ends the server. Its data are kept.
    func close() {
        process.terminate()
        Self.removeSocketFolder(of: folder)
    }

    /// The URL of the Redis server of a running `darkroom run`; nil if `redis.url` is missing or unreadable, which
    /// means that no run is running.
    /// - Parameter state: the folder `.darkroom` of the run.
    static func url(in state: Folder) -> String? {
        guard let text = try? state.contents(of: urlName, maxBytes: 4096) else { return nil }
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// Removes the data of the private Redis server of a folder. If the server is still running, ends it first.
    static func forget(in folder: RunFolder) throws {
        do {
            guard try folder.state.status(of: dataName) != nil else { return }
            try endStaleServer(folder.state.makePrivateFolder(dataName))
            // Otherwise the next server would load the old queue.
            try folder.state.removeTree(dataName)
        } catch let failure as SystemFailure {
            throw CommandError("\(failure.attempted) \(folder.path)/\(dataName): \(failure.text)")
        }
    }

    /// Ends the server of a killed run and waits until it has ended, because the old server must not write to the data
    /// of the new server.
    private static func endStaleServer(_ data: Folder) throws {
        for process in try processes(workingIn: data) {
            kill(process, SIGTERM)
            let deadline = ContinuousClock.now + .seconds(20)
            while try processes(workingIn: data).contains(process) {
                guard ContinuousClock.now < deadline else {
                    throw CommandError(
                        "the redis-server of an earlier run (process \(process)) does not end; end it with kill -9")
                }
                usleep(10_000)  // The server is not a child of this process, so waitpid(2) cannot wait for it.
            }
        }
    }

    /// The redis-servers whose working folder is `data`, found with proc(5).
    private static func processes(workingIn data: Folder) throws(SystemFailure) -> [pid_t] {
        let folder = try data.status()
        // A process whose files in /proc cannot be read has just ended or belongs to another user, so it is not the
        // server of this folder.
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap { pid_t($0) }.filter { process in
            var status = stat()
            return stat("/proc/\(process)/cwd", &status) == 0
                && status.st_dev == folder.st_dev && status.st_ino == folder.st_ino
                && (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)) == "redis-server\n"
        }
    }

    private static func makeSocketFolder() throws(CommandError) -> SocketFolder {
        for parent in SocketFolder.parents() { if let folder = SocketFolder.make(in: parent) { return folder } }
        throw CommandError("make a folder for the socket of Redis in /tmp: \(systemErrorText())")
    }

    private static let socketName = "redis.sock"

    /// Removes `redis.url` of a run and the socket folder that it names.
    private static func removeSocketFolder(of run: RunFolder) {
        // Errors are ignored. Without `redis.url` there is no folder to remove. A folder that cannot be opened or is
        // not private is kept. A socket or an empty folder that remains does no harm: each run creates a new folder.
        guard let text = try? run.state.contents(of: urlName, maxBytes: 4096) else { return }
        let socket = String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines).dropFirst("unix://".count)
        let (path, name) = Path.split(String(socket.dropLast(socketName.count + 1)))
        if let path, name.utf8.starts(with: SocketFolder.prefix.utf8), let parent = try? Folder(trusted: path + "/"),
            let folder = try? parent.folder(name), (try? folder.requirePrivate()) != nil
        {
            try? folder.remove(socketName)
            try? parent.removeFolder(name)
        }
        try? run.state.remove(urlName)
    }
}
