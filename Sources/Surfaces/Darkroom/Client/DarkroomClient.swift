import DarkroomConcurrency
import DarkroomCoordinator
import DarkroomRedis
import DarkroomStore

/// Submits photo lists, and follows and controls their batches. The `darkroom` commands use the same implementation.
///
/// ```swift
/// let client = try DarkroomClient("redis://127.0.0.1:6379")
/// var submission = Submission("photos.csv")
/// submission.name = "holidays"
/// submission.output = "/mnt/photos"
/// let batch = try await client.submit(submission)
/// try await client.prioritize(batch.id, .high)
/// let done = try await client.wait(for: batch.id)
/// print(done.counts.filtered, "of", done.photos)
/// await client.close()
/// ```
///
/// Any task may make any call at any time. Blocking work runs on threads of the client, never on the threads of Swift
/// concurrency. If a task is cancelled, its call throws `CancellationError`. If this call changes a control, the change
/// may still take effect; the call can be repeated.
///
/// Calls throw ``DarkroomError``. If Redis is unreachable, the error has the code `redisUnreachable`. Only calls that
/// submit, wait or follow try again; `submit` does so for 5 minutes.
public final class DarkroomClient: Sendable {
    // DESIGN: the commands and the public functions share one implementation. This implementation (`control`,
    // `BatchFeed`, `BatchWaiter` and `store`) blocks, because the layers below it block (hiredis, libcurl, the file
    // system). The commands call it on their own threads, because signals and terminals require threads that block. The
    // public functions run it on threads of the client.

    /// The address of Redis.
    public let location: RedisLocation
    package let store: BatchStore
    package let control: BatchController
    let waits: WaitThread
    private let threads = CallThreads()

    /// Creates a client, which connects when the first call is made.
    public convenience init(_ location: RedisLocation) { self.init(location) { _ in } }

    /// Creates a client for the Redis server at a URL such as `redis://127.0.0.1:6379`; see ``RedisLocation``.
    /// - Parameters:
    ///   - url: the URL.
    ///   - namespace: the prefix of all keys.
    /// - Throws: ``DarkroomError`` with the code `invalidConfiguration`.
    public convenience init(_ url: String, namespace: String = "darkroom") throws {
        self.init(try RedisLocation(url, namespace: namespace))
    }

    /// - Parameter onLack: called if too few replicas of Redis have confirmed a change in time.
    package init(_ location: RedisLocation, onLack: @escaping @Sendable (ReplicaLack) -> Void) {
        self.location = location
        store = BatchStore(location.redis, keys: location.keys)
        waits = WaitThread(store)
        control = BatchController(store: store, onLack: onLack)
    }

    /// Connects to Redis and checks it, so that a wrong address or password is reported before the first call.
    /// - Returns: recommended changes of the Redis configuration, one sentence each.
    /// - Throws: ``DarkroomError`` with the code `redisUnreachable`, `redisRefused` or `unsuitableRedis`.
    @discardableResult
    public func connect() async throws -> [String] {
        try await blocking("connect to \(location)") { [self] in
            try store.connection.connect()
            return try RedisRequirements.check(location.redis)
        }
    }

    /// Closes the connection. Running calls and later calls fail.
    public func close() async {
        await threads.run { [store] in store.connection.close() }
    }

    /// Runs `body` on a thread of the client.
    /// - Parameter attempted: the value of ``DarkroomError/attempted``.
    /// - Throws: ``DarkroomError``, or `CancellationError` as soon as the task is cancelled. After a cancellation,
    ///   `body` runs to its end.
    func blocking<Result: Sendable>(
        _ attempted: @autoclosure () -> String, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        do {
            return try await threads.call(body)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw DarkroomError(error, attempted())
        }
    }
}
