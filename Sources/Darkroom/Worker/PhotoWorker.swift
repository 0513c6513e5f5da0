import DarkroomConcurrency
import DarkroomLogging
import DarkroomWorker

/// A worker: claims operations from Redis and develops their photos until it is stopped. A process may run several.
///
/// ```swift
/// var configuration = PhotoWorkerConfiguration()
/// configuration.outputFolders = ["/mnt/photos"]
/// let worker = try PhotoWorker(RedisLocation("redis://127.0.0.1:6379"), configuration) { print($0) }
/// try await worker.start()
/// ```
public final class PhotoWorker: Sendable {
    private let worker: Worker
    private let location: RedisLocation
    private let hasStarted = Latch()

    /// Creates a worker. Call ``start()`` to start it.
    /// - Parameters:
    ///   - location: the address of Redis.
    ///   - configuration: the settings of the worker.
    ///   - onLog: called with every log line of level `info` or above, on any thread. Must return quickly.
    /// - Throws: ``DarkroomError`` with the code `invalidConfiguration` if a setting is invalid, or if libvips cannot be started.
    public init(
        _ location: RedisLocation, _ configuration: PhotoWorkerConfiguration = PhotoWorkerConfiguration(),
        onLog: @escaping @Sendable (WorkerLogEvent) -> Void = { _ in }
    ) throws {
        self.location = location
        do {
            worker = try Worker(
                redis: location.redis, keys: location.keys, configuration: configuration.workerConfiguration(),
                logger: Logger(label: "worker", handler: FunctionLog(onEvent: onLog)))
        } catch {
            throw DarkroomError(.invalidConfiguration, "make a worker", "\(error)", cause: error)
        }
    }

    /// The id of the worker in ``DarkroomClient/workers()``. Each worker has a new id.
    public var id: String { worker.id }

    /// The number of photos that have become final in this worker.
    public var photosDone: Int { worker.photosDone }

    /// Connects to Redis and starts working.
    /// - Throws: ``DarkroomError`` with the code `redisUnreachable` or `redisRefused`.
    public func start() async throws {
        do {
            try await onOwnThread("darkroom-worker-start") { [worker] in try worker.start() }
            hasStarted.set()
        } catch {
            throw DarkroomError(error, "start a worker on \(location)")
        }
    }

    /// Stops the worker, and returns when it has stopped. The worker starts no more work. Photos that are running may
    /// be completed within the grace period, and all other operations are released for other workers. Returns at once
    /// if the worker has not been started.
    public func stop() async {
        guard hasStarted.isSet else { return }
        worker.stop()
        try? await onOwnThread("darkroom-worker-stop") { [worker] in worker.wait() }  // waiting throws nothing
    }

    /// Stops the worker and returns at once. No operation is released: other workers must wait until the leases expire.
    public func abandon() { worker.leave() }

    /// Runs `body` on a new thread, because starting and stopping may block for seconds.
    private func onOwnThread(_ name: String, _ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { continuation in
            _ = OwnedThread(name) { continuation.resume(with: Result(catching: body)) }
        }
    }
}
