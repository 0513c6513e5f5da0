import Darkroom
import DarkroomLogging
import DarkroomRedis
import DarkroomStore
import DarkroomWorker
import Foundation

/// What a benchmark runs on: a redis-server of its own, and folders that go away with it.
final class BenchCluster {
    let store: BatchStore
    let keys: Keys
    let redis: RedisServerProcess
    /// For the list files and photos of the benchmark.
    let folder: String
    private let state: String

    /// Starts a redis-server with an append-only file, as `darkroom run` has it.
    /// - Parameter output: the folder below which the benchmark writes.
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
        // Nothing depends on these folders any more; what cannot be removed is left to the system's own cleaning.
        for path in [folder, state] { try? FileManager.default.removeItem(atPath: path) }
    }

    /// The memory that Redis holds, in bytes.
    func usedMemory() throws -> Int {
        let text = try store.connection.call(RedisCommand("INFO", "memory")).string ?? ""
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("used_memory:") }
        return line.flatMap { Int($0.dropFirst("used_memory:".count)) } ?? 0
    }

    /// Starts a worker in this process.
    func startWorker(_ configuration: WorkerConfiguration) throws -> Worker {
        let logger = Logger(label: "worker", level: .notice, handler: NoteLog { note($0) })
        let worker = try Worker(
            redis: redis.configuration, keys: keys, configuration: configuration, logger: logger)
        try worker.start()
        return worker
    }

    /// Waits until a batch has finished, asking seldom enough not to disturb what is measured.
    func wait(for id: BatchID) throws -> BatchFacts {
        while true {
            guard let facts = try store.facts(of: id) else { throw BenchError("batch \(id) is gone") }
            if facts.state == .finished { return facts }
            // A read that waits for a key that never comes: Redis keeps the pace.
            _ = try store.connection.call(RedisCommand("BLPOP", keys.prefix + "bench", "0.05"))
        }
    }
}
