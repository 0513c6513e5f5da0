import DarkroomConcurrency

/// Submits photo lists, steers what became of them and observes it: what the commands of `darkroom` do, for Swift tasks.
///
/// ```swift
/// let client = try DarkroomClient("redis://127.0.0.1:6379")
/// var options = BatchOptions()
/// options.name = "holidays"
/// options.output = "/mnt/photos"
/// let batch = try await client.submit(contentsOf: "photos.csv", options: options)
/// try await client.prioritize(batch.id, .high)
/// let done = try await client.wait(for: batch.id)
/// print(done.counts.filtered, "of", done.photos)
/// await client.close()
/// ```
///
/// Every call may be made from any task, any number of them at once. What blocks runs on threads of the client's own, never
/// on those that Swift runs tasks on. A task that is cancelled stops waiting: the call ends with `CancellationError`, and
/// whether Redis has carried it out is not known (repeating it does no harm).
///
/// Calls throw `StoreError` when Redis fails or no batch has the name given, `ControlError` when what is asked is
/// refused, `CoordinatorError` and `PhotoListError` when a list cannot be fed. While Redis is away, each call fails;
/// only ``submit(contentsOf:options:fileName:after:overwrite:replicas:onSubmitted:onNotice:)`` and the waiting ones try again until it is back.
public final class DarkroomClient: Sendable {
    /// What stands in Redis, with calls that block; for what has no function here.
    package let store: BatchStore
    /// Where the Redis is.
    public let redis: RedisConfiguration

    let control: BatchControl
    let threads = CallThreads()

    /// A client; it connects with its first call.
    /// - Parameters:
    ///   - redis: where the Redis is and how to get in.
    ///   - namespace: what the keys begin with.
    /// - Throws: `InvalidNamespace`.
    public init(_ redis: RedisConfiguration, namespace: String = "darkroom") throws(InvalidNamespace) {
        self.redis = redis
        store = BatchStore(redis, keys: try Keys(namespace: namespace))
        control = BatchControl(store: store)
    }

    /// A client of the Redis at a URL, such as `redis://127.0.0.1:6379` or `unix:///run/redis.sock`.
    /// - Throws: `RedisError` when the URL is none, `InvalidNamespace`.
    public convenience init(_ url: String, namespace: String = "darkroom") throws {
        try self.init(RedisConfiguration(url: url), namespace: namespace)
    }

    /// Connects now, so that a wrong address or password shows here, and looks whether the Redis is one that keeps what
    /// is queued.
    /// - Returns: what should be otherwise there, in sentences.
    @discardableResult
    public func connect() async throws -> [String] {
        try await blocking { [self] in
            try store.connection.connect()
            return try RedisRequirements.check(redis)
        }
    }

    /// Closes the connection; calls that still run, and later ones, fail.
    public func close() async {
        await threads.run { [store] in store.connection.close() }
    }

    /// Runs what blocks on a thread of the client's.
    /// - Throws: what `body` throws, or `CancellationError` as soon as the task is cancelled; `body` then goes on alone.
    func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await threads.call(body)
    }
}
