import Darkroom
import Foundation

/// The folder `.darkroom` in an output folder: the state of `darkroom run`, locked while one works on it.
///
/// It holds `lock`, `identity.json` (see ``RunState``), `redis/` (the append-only file and the log of the private Redis) and,
/// while that runs, `redis.url`, which names its socket.
final class RunFolder {
    /// The output folder.
    let output: OutputFolder
    /// The folder `.darkroom` in it.
    let path: String
    private let lock: Int32

    /// Makes the folders where they are missing, and locks them for this process.
    /// - Parameter overwrite: take the output folder also when it has the manifest of a batch that is not of a run there.
    init(output path: String, overwrite: Bool) throws {
        output = OutputFolder(path: path)
        self.path = path + "/.darkroom"
        if !overwrite, !FileManager.default.fileExists(atPath: Self.identityPath(self.path)) { try output.checkFree() }
        try output.create()
        guard mkdir(self.path, 0o700) == 0 || errno == EEXIST else { throw Self.error("make", self.path) }
        lock = open(self.path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw Self.error("make", self.path + "/lock") }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            defer { close(lock) }
            guard errno == EWOULDBLOCK else { throw Self.error("lock", self.path + "/lock") }
            // Who holds the lock is told where it can be read; that it is held is the error.
            let holder = (try? String(contentsOfFile: self.path + "/lock", encoding: .utf8)) ?? ""
            throw CoordinatorError(
                .folderInUse,
                "output folder \(path): another darkroom run works on it (process \(holder)); wait until it has ended, or stop it"
            )
        }
        let process = Array("\(getpid())".utf8)
        guard ftruncate(lock, 0) == 0, pwrite(lock, process, process.count, 0) == process.count else {
            throw Self.error("write", self.path + "/lock")
        }
    }

    deinit { close(lock) }

    /// What was begun here; nil when nothing was.
    func state() throws -> RunState? {
        let identity = Self.identityPath(path)
        guard FileManager.default.fileExists(atPath: identity) else { return nil }
        do {
            return try JSONDecoder().decode(RunState.self, from: Data(contentsOf: URL(fileURLWithPath: identity)))
        } catch {
            throw CoordinatorError(
                .stateLost, "\(identity): what was begun here cannot be read (\(error)); --again does all again")
        }
    }

    /// Notes what is begun here.
    func note(_ state: RunState) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let file = URL(fileURLWithPath: Self.identityPath(path))
        do {
            try encoder.encode(state).write(to: file, options: .atomic)
        } catch {
            throw CommandError("write \(file.path): \(error.localizedDescription)")
        }
    }

    /// Forgets what was begun here.
    func forget() { unlink(Self.identityPath(path)) }

    private static func identityPath(_ path: String) -> String { path + "/identity.json" }

    private static func error(_ attempted: String, _ path: String) -> CoordinatorError {
        CoordinatorError(
            .outputDenied,
            "\(attempted) \(path): \(String(cString: strerror(errno))); the state of a run is kept there, choose an output folder "
                + "that can be written and locked")
    }
}
