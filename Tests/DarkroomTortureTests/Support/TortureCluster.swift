import Darkroom
import DarkroomConcurrency
import DarkroomCoordinator
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation

/// Real workers, real photos over HTTP from a server that counts requests by photo, an output folder in memory, one Redis.
///
/// Any thread may call it. Everything of it goes with it.
final class TortureCluster: Sendable {
    /// A batch that was submitted here.
    struct Submission: Sendable {
        /// Which photos of the server are its.
        let number: Int
        let photos: Int
        let operationSize: Int
        /// Its output folder, which no other batch has.
        let output: String
    }

    /// Sees Redis directly, whatever lies between it and the workers.
    let store: BatchStore
    let photos: TorturePhotos
    /// The folder of everything that this cluster writes.
    let folder: String
    let namespace: String
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
    ///   - redisURL: how the tests reach Redis, and the workers, too, unless `workerRedisURL` leads them another way.
    ///   - lease: of all batches; Darkroom takes nothing below 6 s.
    ///   - workerArguments: what is said to each worker besides.
    init(
        redisURL: String, namespace: String, workers: Int, lease: Duration = .seconds(6),
        workerArguments: [String] = [], workerRedisURL: String? = nil
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
        for _ in 0..<workers { _ = try startWorker() }
    }

    deinit {
        for worker in workers { worker.kill() }
        store.connection.close()
        if state.withLock({ $0.isKept }) { return print("what was found is left in \(folder)") }
        do {
            try FileManager.default.removeItem(atPath: folder)
        } catch {
            print("\(folder) is left: \(error)")
        }
    }

    /// Lets the folder stay, with everything that was written and logged.
    func keepFolder() { state.withLock { $0.isKept = true } }

    // MARK: Workers

    /// The workers that were started and not seen to have ended.
    var workers: [TortureWorker] {
        state.withLock { state in
            state.workers.removeAll(where: \.hasEnded)
            return state.workers
        }
    }

    /// Starts another worker; it claims a moment later. `redisURL` leads it another way to Redis than the others.
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

    /// Stops all workers in order, and looks whether a process of this cluster is left.
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
        guard left.isEmpty else { throw TortureFailure("processes of the workers are left: \(left)") }
    }

    // MARK: Batches

    /// The batches that were submitted and not forgotten, in the order of their ids.
    var batches: [BatchID] { state.withLock { $0.submissions.keys.sorted() } }

    /// What was submitted as a batch.
    func submission(of batch: BatchID) throws -> Submission {
        guard let submission = state.withLock({ $0.submissions[batch] }) else {
            throw TortureFailure("batch \(batch) was not submitted here")
        }
        return submission
    }

    /// Feeds and seals a batch as `darkroom submit` does; each photo has a URL of its own.
    func submit(photos count: Int, operationSize: Int) throws -> BatchID {
        let submission = try prepare(photos: count, operationSize: operationSize)
        var options = BatchOptions()
        options.output = submission.output
        options.operationSize = operationSize
        options.lease = lease
        let list = PhotoRecords(
            (0..<count).lazy.map { [photos] in (name: "photo", url: photos.url(batch: submission.number, $0)) })
        return try Coordinator(store: store).submit(list, options: options) { id in note(submission, as: id) }.id
    }

    /// Makes what a batch needs that is to be submitted: a number and a folder of its own.
    func prepare(photos count: Int, operationSize: Int) throws -> Submission {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        let output = "\(folder)/output-\(number)"
        try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
        return Submission(number: number, photos: count, operationSize: operationSize, output: output)
    }

    /// Takes that a batch was submitted.
    func note(_ submission: Submission, as id: BatchID) { state.withLock { $0.submissions[id] = submission } }

    /// Waits until a batch has finished; Redis may be away meanwhile.
    func waitUntilFinished(_ batch: BatchID, within timeout: Duration) throws {
        let deadline = ContinuousClock.now + timeout
        while true {
            var found = ""
            do {
                let facts = try store.facts(of: batch)
                if facts?.state == .finished { return }
                found = facts.map { "\($0)" } ?? "nothing in Redis"
            } catch {
                guard error.isPassing else { throw error }
                found = "\(error)"
            }
            guard .now < deadline else {
                throw TortureFailure("batch \(batch) has not finished within \(timeout): \(found)")
            }
            // Asked for, so that events which Redis loses do not matter.
            usleep(50_000)
        }
    }

    /// Forgets a batch that was verified: its files, its keys, its requests.
    func forget(_ batch: BatchID) throws {
        let submission = try submission(of: batch)
        forgetting: while true {
            switch try store.perform(store.forget(batch)) {
            case .more: continue
            case .forgotten, .gone: break forgetting
            case .unfinished(let state): throw TortureFailure("batch \(batch) is to be forgotten and is \(state)")
            }
        }
        state.withLock { $0.submissions[batch] = nil }
        photos.forget(batch: submission.number)
        try FileManager.default.removeItem(atPath: submission.output)
    }
}
