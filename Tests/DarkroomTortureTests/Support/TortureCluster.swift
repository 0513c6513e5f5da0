import Darkroom
import DarkroomConcurrency
import DarkroomCoordinator
import DarkroomLists
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation

/// Real workers with one Redis server and an output folder, in memory if there is /dev/shm. The workers download real
/// photos from an HTTP server that counts requests per photo.
///
/// Any thread may call the methods. When this object is released, its processes end and its files are removed.
final class TortureCluster: Sendable {
    /// A batch of this cluster.
    struct Submission: Sendable {
        /// The number of the batch in the URLs of its photos.
        let number: Int
        let photos: Int
        let operationSize: Int
        /// The output folder, which no other batch uses.
        let output: String
        var renditions: [PhotoRendition] = []
    }

    /// The store has a direct connection to Redis, even if the workers use a proxy.
    let store: BatchStore
    let photos: TorturePhotos
    /// The folder of all files of this cluster.
    let folder: String
    let namespace: String
    /// Whether the bytes of each batch are compared.
    let countsBytes: Bool
    let lease: Duration
    private let workerRedisURL: String
    private let workerArguments: [String]

    private struct State {
        var workers: [TortureWorker] = []
        var startedWorkers = 0
        var submissions: [BatchID: Submission] = [:]
        var nextNumber = 0
        var isKept = false
    }
    private let state = Locked(State())

    /// Starts the workers.
    /// - Parameters:
    ///   - redisURL: The Redis URL of the tests, and of the workers unless `workerRedisURL` is given.
    ///   - lease: The lease of all batches, at least 6 s.
    ///   - workerArguments: Additional arguments of each worker.
    ///   - countsBytes: Whether the bytes of each batch must be exact. If Redis loses a part of a report, they are not.
    init(
        redisURL: String, namespace: String, workers: Int, lease: Duration = .seconds(6),
        workerArguments: [String] = [], workerRedisURL: String? = nil, countsBytes: Bool = true
    ) throws {
        let memory = "/dev/shm"
        let parent = access(memory, W_OK) == 0 ? memory + "/" : NSTemporaryDirectory()
        folder = parent + "darkroom-torture-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        store = BatchStore(try RedisConfiguration(url: redisURL), keys: try Keys(namespace: namespace))
        photos = try TorturePhotos(scratch: folder)
        self.workerRedisURL = workerRedisURL ?? redisURL
        self.namespace = namespace
        self.lease = lease
        self.workerArguments = workerArguments
        self.countsBytes = countsBytes
        for _ in 0..<workers { _ = try startWorker() }
    }

    deinit {
        for worker in workers { worker.kill() }
        store.connection.close()
        if state.withLock({ $0.isKept }) { return print("the files of the failed run are in \(folder)") }
        do {
            try FileManager.default.removeItem(atPath: folder)
        } catch {
            print("\(folder) cannot be removed: \(error)")
        }
    }

    /// Keeps the folder with all files and logs.
    func keepFolder() { state.withLock { $0.isKept = true } }

    // MARK: Workers

    /// The started workers that have not ended yet.
    var workers: [TortureWorker] {
        state.withLock { state in
            state.workers.removeAll(where: \.hasEnded)
            return state.workers
        }
    }

    /// Starts another worker, without waiting for its first claim. By default it uses the same Redis URL as the others.
    @discardableResult func startWorker(redisURL: String? = nil) throws -> TortureWorker {
        let number = state.withLock { state in
            state.startedWorkers += 1
            return state.startedWorkers
        }
        let worker = try TortureWorker(
            redisURL: redisURL ?? workerRedisURL, namespace: namespace, arguments: workerArguments,
            log: "\(folder)/worker-\(number).log", mark: folder)
        state.withLock { $0.workers.append(worker) }
        return worker
    }

    /// Stops all workers with SIGTERM, and throws if a process of this cluster is still running.
    func end() throws {
        let workers = workers
        for worker in workers {
            worker.resume()
            worker.stop()
        }
        for worker in workers where !worker.waitForEnd(within: .seconds(30)) {
            throw TortureFailure(
                "the worker \(worker.processIdentifier) has not stopped: \(worker.logged.suffix(1000))")
        }
        let left = TortureWorker.processes(markedBy: folder)
        guard left.isEmpty else { throw TortureFailure("processes of the workers remain: \(left)") }
    }

    // MARK: Batches

    /// The sorted ids of the submitted batches that have not been forgotten.
    var batches: [BatchID] { state.withLock { $0.submissions.keys.sorted() } }

    /// The submission of a batch.
    func submission(of batch: BatchID) throws -> Submission {
        guard let submission = state.withLock({ $0.submissions[batch] }) else {
            throw TortureFailure("this cluster has no batch \(batch)")
        }
        return submission
    }

    /// Feeds and seals a batch as `darkroom submit` does. Each photo has its own URL.
    func submit(photos count: Int, operationSize: Int, renditions: [PhotoRendition] = []) throws -> BatchID {
        var submission = try prepare(photos: count, operationSize: operationSize)
        submission.renditions = renditions
        var options = BatchOptions()
        options.renditions = renditions
        options.output = submission.output
        options.operationSize = operationSize
        options.lease = lease
        let list = PhotoRecords(
            (0..<count).lazy.map { [photos] in (name: "photo", url: photos.url(batch: submission.number, $0)) })
        return try Coordinator(store: store).submit(list, options: options) { id in note(submission, as: id) }.id
    }

    /// Chooses a number for a new batch and creates its folder.
    func prepare(photos count: Int, operationSize: Int) throws -> Submission {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        let output = "\(folder)/output-\(number)"
        try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
        return Submission(number: number, photos: count, operationSize: operationSize, output: output)
    }

    /// Records a submitted batch.
    func note(_ submission: Submission, as id: BatchID) { state.withLock { $0.submissions[id] = submission } }

    /// Waits until a batch has finished. Redis may be unreachable during the wait.
    func waitUntilFinished(_ batch: BatchID, within timeout: Duration) throws {
        let deadline = ContinuousClock.now + timeout
        while true {
            var found = ""
            do {
                let facts = try store.facts(of: batch)
                if facts?.state == .finished { return }
                found = facts.map { "\($0)" } ?? "not in Redis"
            } catch {
                guard error.isPassing else { throw error }
                found = "\(error)"
            }
            guard .now < deadline else {
                throw TortureFailure("batch \(batch) has not finished within \(timeout): \(found)")
            }
            // Polls, because Redis may lose events.
            usleep(50_000)
        }
    }

    /// Removes a verified batch: its files, its keys and its request counts.
    func forget(_ batch: BatchID) throws {
        let submission = try submission(of: batch)
        forgetting: while true {
            switch try store.perform(store.forget(batch)) {
            case .more: continue
            case .forgotten, .gone: break forgetting
            case .unfinished(let state): throw TortureFailure("batch \(batch) cannot be forgotten, it is \(state)")
            }
        }
        state.withLock { $0.submissions[batch] = nil }
        photos.forget(batch: submission.number)
        try FileManager.default.removeItem(atPath: submission.output)
    }
}
