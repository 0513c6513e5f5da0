import Darkroom
import DarkroomCoordinator
import DarkroomLists
import DarkroomPhotoServer
import DarkroomRedis
import DarkroomStore
import DarkroomWorker
import Foundation

/// A private Redis server, HTTP servers for the photos, and workers in this process that log trace events.
final class ControlCluster {
    let bench: BenchCluster
    let log = TraceLog()
    let control: BatchController
    let trickle: TrickleServer
    /// Serves the folder of photos.
    let photos: PhotoServer
    let urls: [String]
    private var workers: [Worker] = []
    private var outputs = 0

    init(folder: String) throws {
        bench = try BenchCluster(output: "/dev/shm")
        control = BatchController(store: bench.store)
        trickle = try TrickleServer()
        photos = try PhotoServer(folder: folder)
        urls = try photoNames(photos.paths, in: folder).map(photos.url)
    }

    var store: BatchStore { bench.store }

    /// Starts workers and waits until each has sent its first claim.
    func startWorkers(
        _ count: Int, hooks: WorkerHooks = WorkerHooks(), _ change: (inout PhotoWorkerConfiguration) -> Void = { _ in }
    ) throws {
        for _ in 1...count {
            var configuration = PhotoWorkerConfiguration()
            configuration.downloadRules.allowsPrivateAddresses = true
            configuration.downloadRules.connectionsPerHost = .max
            configuration.downloadRules.folders = [bench.folder]
            change(&configuration)
            let worker = try bench.startWorker(configuration, hooks: hooks) { [log] observation in
                if case .step(let event) = observation { log.note(event) }
            }
            workers.append(worker)
        }
        let deadline = ContinuousClock.now + .seconds(10)
        while try store.workers().count(where: { $0.fields["claim.number"] != nil }) < workers.count {
            guard ContinuousClock.now < deadline else { throw BenchError("the workers did not claim within 10 s") }
            try pause(0.02)
        }
    }

    func stopWorkers() {
        for worker in workers { worker.stop() }
        for worker in workers { worker.wait() }
        workers = []
        log.clear()
    }

    func close() {
        stopWorkers()
        trickle.stop()
        photos.stop()
    }

    /// Submits URLs as a batch with a new output folder.
    func submit(_ urls: [String], _ change: (inout BatchOptions) -> Void = { _ in }) throws -> BatchID {
        outputs += 1
        var options = BatchOptions()
        options.output = bench.folder + "/photos-\(outputs)"
        options.filters = [.sepia()]
        change(&options)
        let list = PhotoRecords(urls.map { (name: PhotoURL.name(of: $0), url: $0) })
        return try Coordinator(store: store).submit(list, options: options).id
    }

    /// Forgets a batch and removes its files, which are in memory (`/dev/shm`).
    func remove(_ id: BatchID) throws {
        guard let facts = try store.facts(of: id) else { return }
        while case .more = try store.perform(store.forget(id, unfinished: true)) {}
        // Errors are ignored: the folder of the benchmark is removed at the end.
        if !facts.options.output.isEmpty { try? FileManager.default.removeItem(atPath: facts.options.output) }
        log.clear()
    }

    /// Waits for `seconds`, by a blocking read of a Redis key that never exists.
    func pause(_ seconds: Double) throws {
        _ = try store.connection.call(RedisCommand("BLPOP", store.keys.prefix + "bench", String(seconds)))
    }

    /// Runs `body`. Returns the time in which Redis executed the scripts of `body`, in ms.
    func redisMilliseconds(_ body: () throws -> Void) throws -> Double {
        _ = try store.connection.call(RedisCommand("CONFIG", "RESETSTAT"))
        try body()
        let text = try store.connection.call(RedisCommand("INFO", "commandstats")).string ?? ""
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("cmdstat_evalsha:") }
        let field = line?.split(separator: ",").first { $0.hasPrefix("usec=") }
        guard let microseconds = field.flatMap({ Double($0.dropFirst("usec=".count)) }) else {
            throw BenchError("INFO commandstats does not report EVALSHA")
        }
        return microseconds / 1000
    }
}

extension [Double] {
    /// The 99th percentile (nearest rank), which is the largest value if there are fewer than 100 values; 0 if there
    /// are no values.
    var p99: Double {
        let sorted = sorted()
        return sorted.isEmpty
            ? 0 : sorted[Swift.min(sorted.count - 1, Int((Double(sorted.count) * 0.99).rounded(.up)) - 1)]
    }
}

extension Duration {
    var milliseconds: Double { self / .milliseconds(1) }
}
