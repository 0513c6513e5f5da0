import DarkroomConcurrency
import DarkroomLogging
import DarkroomWorker

/// A worker: claims operations from Redis and develops their photos until ``stop()`` or ``abandon()`` is called, even
/// if the program keeps no reference to the worker. A process may have several workers.
///
/// ```swift
/// var configuration = PhotoWorkerConfiguration()
/// configuration.outputFolders = ["/mnt/photos"]
/// let worker = try PhotoWorker(RedisLocation("redis://127.0.0.1:6379"), configuration) { print($0) }
/// try await worker.start()
/// ```
public final class PhotoWorker: Sendable {
    private enum Phase { case new, starting, running, stopped }
    private struct State {
        var phase = Phase.new
        /// The thread of the latest start; nil before the first start.
        var starter: OwnedThread?
    }

    private let worker: Worker
    private let location: RedisLocation
    private let state = Locked(State())
    /// Set when a start has succeeded.
    private let hasStarted = Latch()

    /// Creates a worker. Call ``start()`` to start it.
    /// - Parameters:
    ///   - location: the address of Redis.
    ///   - configuration: the settings of the worker.
    ///   - onLog: called with every log line of level `info` or above, on any thread. Must return quickly.
    /// - Throws: ``DarkroomError`` with the code `invalidConfiguration` if a setting is invalid, or if libvips cannot
    ///   be started.
    public init(
        _ location: RedisLocation, _ configuration: PhotoWorkerConfiguration = PhotoWorkerConfiguration(),
        onLog: @escaping @Sendable (WorkerLogEvent) -> Void = { _ in }
    ) throws {
        self.location = location
        do {
            try configuration.check()
            worker = try Worker(
                redis: location.redis, keys: location.keys, configuration: configuration,
                logger: Logger(label: "worker", handler: FunctionLog(onEvent: onLog)))
        } catch {
            throw DarkroomError(.invalidConfiguration, "make a worker", "\(error)", cause: error)
        }
    }

    /// The id of the worker in ``DarkroomClient/workers()``. Each worker has a new id.
    public var id: String { worker.id }

    /// The number of photos that have become final in this worker.
    public var photosDone: Int { worker.photosDone }

    // Starting and stopping may take seconds, so they run on separate threads, not on the threads of Swift tasks.

    /// Connects to Redis and starts the work. A worker starts once. A call that throws a Redis error can be repeated.
    /// - Throws: ``DarkroomError`` with the code `redisUnreachable` or `redisRefused`; `alreadyStarted` if the worker has
    ///   already been started, stopped or abandoned.
    public func start() async throws {
        do {
            try await withCheckedThrowingContinuation { continuation in
                let isNew = state.withLock { state in
                    guard state.phase == .new else { return false }
                    state.phase = .starting
                    state.starter = OwnedThread("darkroom-worker-start") { [self] in
                        continuation.resume(with: Result { try startBlocking() })
                    }
                    return true
                }
                if !isNew {
                    continuation.resume(
                        throwing: DarkroomError(
                            .alreadyStarted, "start a worker on \(location)",
                            "the worker was started before; make a new PhotoWorker"))
                }
            }
        } catch {
            throw DarkroomError(error, "start a worker on \(location)")
        }
    }

    private func startBlocking() throws {
        let outcome = Result { try worker.start() }
        if case .success = outcome { hasStarted.set() }
        state.withLock { state in
            guard state.phase == .starting else { return }
            state.phase = hasStarted.isSet ? .running : .new
        }
        try outcome.get()
    }

    /// Stops the worker and returns when it has stopped. The worker starts no more photos, gives running photos the
    /// grace period to finish, and releases its operations that are not complete, so that other workers can claim them.
    ///
    /// If the worker is starting, the call waits for the start and then stops the worker. A worker that has not started
    /// stops at once, and cannot be started later.
    public func stop() async {
        guard let starter = end() else { return }
        worker.stop()
        await withCheckedContinuation { continuation in
            _ = OwnedThread("darkroom-worker-stop") { [self] in
                starter.join()
                if hasStarted.isSet { worker.wait() }
                continuation.resume()
            }
        }
    }

    /// Stops the worker and returns at once. No operation is released: other workers must wait until the leases expire.
    /// The worker cannot be started later.
    public func abandon() {
        if end() != nil { worker.leave() }
    }

    /// Prevents later starts. Returns the thread of the latest start; nil if the worker was never started.
    private func end() -> OwnedThread? {
        state.withLock { state in
            state.phase = .stopped
            return state.starter
        }
    }
}
