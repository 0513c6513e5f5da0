import Darkroom
import DarkroomFiles
import DarkroomRedis
import DarkroomText
import Foundation

/// The Redis of a run: its data lie in the run's folder, its socket in a folder of its own that nobody else may enter.
final class PrivateRedis {
    /// How to reach it.
    let configuration: RedisConfiguration

    private let process: RedisServerProcess
    private let folder: RunFolder

    private static let dataName = "redis"
    private static let urlName = "redis.url"

    /// The commands that no `darkroom run` sends to its Redis. A redis-server executes whatever its append-only file contains, and
    /// the files of an output folder may come from an archive or a share. A server that does not have a command refuses to load
    /// a file that contains the command, and refuses the command in scripts.
    private static let disabledCommands = [
        "ACL", "CLUSTER", "CONFIG", "DEBUG", "FAILOVER", "FCALL", "FCALL_RO", "FUNCTION", "MIGRATE", "MODULE",
        "MONITOR", "PSYNC", "REPLICAOF", "RESTORE", "SHUTDOWN", "SLAVEOF", "SYNC",
    ]

    /// The persistence of the server, and its protection against data that another program has written.
    private static let arguments =
        ["--appendonly", "yes", "--appendfsync", "everysec", "--sanitize-dump-payload", "yes"]
        + disabledCommands.flatMap { ["--rename-command", $0, ""] }

    /// Starts it with what it has kept, once the server of an earlier run has ended.
    init(in folder: RunFolder) throws {
        self.folder = folder
        let path = folder.path + "/" + Self.dataName
        do {
            let data = try folder.state.makePrivateFolder(Self.dataName)
            try Self.endLeftover(data)
            try Self.requirePlainFiles(data, path)
            Self.removeSocketFolder(of: folder)

            let socket = try Self.makeSocketFolder() + "/" + Self.socketName
            do {
                try folder.state.replace(Self.urlName, with: Array("unix://\(socket)\n".utf8))
                process = try RedisServerProcess(
                    socketPath: socket, folder: data, path: path,
                    arguments: Self.arguments)
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

    /// Makes sure that the data are files of this folder: a redis-server follows links, and appends to the files that they name.
    private static func requirePlainFiles(_ data: Folder, _ path: String) throws {
        let dataFolder = "appendonlydir"
        try requirePlainFiles(data, path, besides: dataFolder)
        guard try data.status(of: dataFolder) != nil else { return }
        try requirePlainFiles(data.folder(dataFolder), path)
    }

    private static func requirePlainFiles(_ folder: Folder, _ path: String, besides subfolder: String? = nil) throws {
        for name in try folder.names() {
            guard let status = try folder.status(of: name) else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFREG where status.st_nlink == 1: continue
            case S_IFREG: throw refusal(ofDataIn: path, "\(name) is a file with several names")
            case S_IFDIR where name == subfolder: continue
            case S_IFLNK: throw refusal(ofDataIn: path, "\(name) is a symbolic link")
            default: throw refusal(ofDataIn: path, "\(name) is not a regular file")
            }
        }
    }

    private static func refusal(ofDataIn path: String, _ found: String) -> CommandError {
        CommandError(
            "the private Redis of this run does not load \(path)/appendonlydir: what is there is damaged, or another program has "
                + "written it, so nothing of it was used (\(found)). If the output folder comes from an archive or from "
                + "another user, do not trust it. --again removes \(path) and does all again over the same files"
        )
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

    private static func makeSocketFolder() throws(CommandError) -> String {
        for parent in SocketFolder.parents() { if let folder = SocketFolder.make(in: parent) { return folder } }
        throw CommandError("make a folder for the socket of Redis in /tmp: \(systemErrorText())")
    }

    private static let socketName = "redis.sock"

    /// Removes the socket folder that the file of a run names, and the file.
    private static func removeSocketFolder(of run: RunFolder) {
        // Cleaning up is best effort. Without the file there is no folder to remove, and a folder that cannot be opened or is not
        // private is left alone. A socket or an empty folder that remains does no harm: each run makes a new one.
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
