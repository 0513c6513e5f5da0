import Darkroom
import DarkroomCoordinator
import DarkroomFiles
import DarkroomStorage
import Foundation

/// The folder `.darkroom` in an output folder: the state of `darkroom run`. A run locks this folder until the run ends.
///
/// It contains `lock`, `identity.json` (see ``RunState``), `redis/` (the append-only file and the log of the private
/// Redis) and, while the server is running, `redis.url` with the path of the server's socket.
final class RunFolder {
    /// The place of the results.
    let output: any StoragePlace
    /// The path of the folder `.darkroom`.
    let path: String
    /// The open folder `.darkroom`. The user of this process owns it, and other users have no access.
    let state: Folder
    private let lock: Int32

    private static let name = ".darkroom"
    private static let lockName = "lock"
    private static let identityName = "identity.json"

    /// Creates missing folders and locks `.darkroom` for this process.
    /// - Parameter overwrite: Use the output folder even if it contains the manifest of a batch that was not submitted
    ///   by a run in this folder.
    init(output path: String, overwrite: Bool) throws {
        output = StorageSchemes.place(path)
        self.path = path + "/" + Self.name
        let place = self.path
        do {
            // An output folder that does not exist yet has no run.
            let hasRun = try (try? Folder(trusted: path))?.status(of: Self.name + "/" + Self.identityName) != nil
            let output = output
            try CoordinatorError.storing { () throws(StorageError) in
                if !overwrite, !hasRun { try output.checkFree() }
                try WritableFolder(role: "output folder", path: path).create()
            }
            state = try Folder(trusted: path).makePrivateFolder(Self.name)
            lock = try state.open(Self.lockName, O_RDWR | O_CREAT, mode: 0o600, attempted: "lock")
        } catch let failure as SystemFailure {
            throw Self.error(failure, place)
        }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            defer { close(lock) }
            guard errno == EWOULDBLOCK else { throw Self.error(SystemFailure("lock", errno), self.path) }
            throw Self.inUse(path, state)
        }
        let process = Array("\(getpid())".utf8)
        guard ftruncate(lock, 0) == 0, pwrite(lock, process, process.count, 0) == process.count else {
            throw Self.error(SystemFailure("write", errno), self.path + "/lock")
        }
    }

    deinit { close(lock) }

    /// Opens the folder `.darkroom` of an output folder.
    /// - Returns: nil if the folder is missing, cannot be opened, belongs to another user, or gives other users access.
    ///   Callers then assume that there is no run.
    static func existing(inOutput path: String) -> Folder? {
        guard let state = try? Folder(trusted: path).folder(name), (try? state.requirePrivate()) != nil else {
            return nil
        }
        return state
    }

    /// The state of the run in an output folder; nil if there is no run, or if its state cannot be read.
    static func earlier(inOutput path: String) -> RunState? {
        // The error is dropped, because the caller only looks for options of an earlier run. The run itself reads the state
        // again and reports the error.
        existing(inOutput: path).flatMap { try? noted(in: $0, ofOutput: path) }
    }

    /// Throws the error that the initializer would throw, if the error can be found without writing.
    /// - Returns: The open folder `.darkroom`; nil if the output folder has no run.
    static func examine(output path: String, overwrite: Bool) throws(CoordinatorError) -> Folder? {
        let output = StorageSchemes.place(path)
        let exists = try CoordinatorError.storing { () throws(StorageError) in try output.examine(renditions: []) }
        let state = exists ? try privateState(inOutput: path) : nil
        if let state, isLocked(state) { throw inUse(path, state) }
        // If the status of the identity file cannot be read, the folder counts as a run. The caller then reads the file,
        // which reports the error.
        if let state, (try? state.status(of: identityName) == nil) != true { return state }
        if !overwrite { try CoordinatorError.storing { () throws(StorageError) in try output.checkFree() } }
        return nil
    }

    /// Opens the folder `.darkroom` of an existing output folder; returns nil if `.darkroom` is missing. Throws if
    /// other users have access to `.darkroom`.
    private static func privateState(inOutput path: String) throws(CoordinatorError) -> Folder? {
        do throws(SystemFailure) {
            let folder = try Folder(trusted: path)
            guard try folder.status(of: name) != nil else { return nil }
            let state = try folder.folder(name)
            try state.requirePrivate()
            return state
        } catch {
            throw Self.error(error, path + "/" + name)
        }
    }

    /// Whether a run holds the lock in the folder `.darkroom`.
    private static func isLocked(_ state: Folder) -> Bool {
        // A lock file that is missing or cannot be opened counts as not locked. The run itself creates and locks the
        // file, and reports an error.
        guard let lock = try? state.open(lockName, O_RDONLY, mode: 0, attempted: "lock") else { return false }
        defer { close(lock) }
        return flock(lock, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    private static func inUse(_ path: String, _ state: Folder) -> CoordinatorError {
        // If the process id cannot be read, the error omits the id.
        let holder = String(decoding: (try? state.contents(of: lockName, maxBytes: 100)) ?? [], as: UTF8.self)
        return CoordinatorError(
            .folderInUse,
            "output folder \(path): another darkroom run uses it (process \(holder)); wait until it has ended, or stop it"
        )
    }

    /// The stored state of the run; nil if no state is stored.
    func noted() throws(CoordinatorError) -> RunState? { try Self.noted(in: state, ofOutput: output.location) }

    /// The stored state in the open folder `.darkroom` of an output folder; nil if no state is stored.
    static func noted(in state: Folder, ofOutput path: String) throws(CoordinatorError) -> RunState? {
        do {
            guard try state.status(of: identityName) != nil else { return nil }
            let text = try state.contents(of: identityName, maxBytes: 1 << 20)
            return try UntrustedJSON().decode(RunState.self, from: text)
        } catch {
            let found = (error as? SystemFailure)?.text ?? "\(error)"
            throw CoordinatorError(
                .stateLost,
                "\(path)/\(name)/\(identityName): the state of the run cannot be read (\(found)); "
                    + "--again develops all photos again")
        }
    }

    func note(_ state: RunState) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let text = [UInt8](try encoder.encode(state))
        do {
            try self.state.replace(Self.identityName, with: text)
        } catch {
            throw CommandError("write \(path)/\(Self.identityName): \(error.text)")
        }
    }

    func forget() throws {
        do {
            try state.remove(Self.identityName)
        } catch {
            throw CommandError("remove \(path)/\(Self.identityName): \(error.text)")
        }
    }

    private static func error(_ failure: SystemFailure, _ path: String) -> CoordinatorError {
        CoordinatorError(
            .outputDenied,
            "\(failure.attempted) \(path): \(failure.text); the state of a run is kept there, and no other user may write to it: "
                + "remove the folder, or choose an output folder that can be written and locked")
    }
}
