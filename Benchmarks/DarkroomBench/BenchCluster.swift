import Darkroom
import DarkroomLogging
import DarkroomRedis
import DarkroomStore
import DarkroomWorker
import DarkroomWorkerState
import Foundation

/// A private redis-server and temporary folders for a benchmark.
final class BenchCluster {
    let store: BatchStore
    let keys: Keys
    let redis: RedisServerProcess
    /// The folder for the list files and photos of the benchmark.
    let folder: String
    private let state: String

    /// Starts a redis-server with an append-only file, as `darkroom run` does.
    /// - Parameter output: The folder into which the benchmark writes.
    init(output: String) throws {
        folder = output + "/darkroom-bench-\(getpid())"
        state = NSTemporaryDirectory() + "/darkroom-bench-\(getpid())"
        for path in [folder, state] {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        redis = try RedisServerProcess(
            socketPath: state + "/redis.sock", folder: state,
            arguments: ["--appendonly", "yes", "--appendfsync", "everysec"])
        keys = try Keys()
        store = BatchStore(redis.configuration, keys: keys)
        try store.connection.connect()
    }

    deinit {
        store.connection.close()
        redis.terminate()
        // Errors are ignored: the folders are no longer needed, and the system removes old temporary folders.
        for path in [folder, state] { try? FileManager.default.removeItem(atPath: path) }
    }

    func usedMemory() throws -> Int {
        let text = try store.connection.call(RedisCommand("INFO", "memory")).string ?? ""
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("used_memory:") }
        return line.flatMap { Int($0.dropFirst("used_memory:".count)) } ?? 0
    }

    func startWorker(
        _ configuration: PhotoWorkerConfiguration, hooks: WorkerHooks = WorkerHooks(), observer: WorkerObserver? = nil
    ) throws -> Worker {
        let logger = Logger(label: "worker", level: .notice, handler: NoteLog { note($0) })
        let worker = try Worker(
            redis: redis.configuration, keys: keys, configuration: configuration, hooks: hooks, observer: observer,
            logger: logger)
        try worker.start()
        return worker
    }

    /// Waits until a batch has finished. Polls at a low rate, so that the measurement is not disturbed.
    func wait(for id: BatchID) throws -> BatchFacts {
        while true {
            guard let facts = try store.facts(of: id) else { throw BenchError("batch \(id) was forgotten") }
            if facts.state == .finished { return facts }
            // A blocking read of a Redis key that never exists returns after 0.05 s.
            _ = try store.connection.call(RedisCommand("BLPOP", keys.prefix + "bench", "0.05"))
        }
    }
}
