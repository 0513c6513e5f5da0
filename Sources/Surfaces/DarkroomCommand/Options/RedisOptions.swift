import ArgumentParsing
import Darkroom
import DarkroomCoordinator
import DarkroomFiles
import DarkroomRedis
import DarkroomStore

/// Options for the address of Redis and the prefix of its keys.
struct RedisOptions: ParsableArguments {
    // This string is parsed later, because a usage error would show an invalid URL, which may contain a password.
    @Option(
        help: """
            The address of Redis. The forms are redis://[user:password@]host[:port][/database], rediss://..., \
            unix:///path, and redis+sentinel://host:port,host:port/service.
            """,
        valueName: "url", environment: "DARKROOM_REDIS",
        synonyms: ["redis-url", "redis-host", "broker", "url", "u", "server"])
    var redis: String = "redis://127.0.0.1:6379"

    @OptionGroup(title: "Redis options") var access: RedisAccessOptions

    @Option(help: "The prefix of the keys; one Redis can serve several namespaces.", valueName: "name")
    var namespace: String = "darkroom"

    /// The private Redis server of a run, if the user has named the run by its output folder; it replaces `redis`.
    private var runRedis: RedisConfiguration?
    /// The run that the user has named by its output folder; nil if that run has no private Redis server.
    private(set) var run: (batch: String, folder: String)?

    func validate() throws {
        _ = try configuration()
        do {
            _ = try keys()
        } catch {
            throw ValidationError("--\(error)")
        }
    }

    func configuration() throws -> RedisConfiguration { try runRedis ?? access.configuration(url: redis) }

    /// If `batch` is the output folder of a `darkroom run`, returns the id of the run's batch, and options for the
    /// Redis server of the run. Otherwise returns `batch` and these options unchanged.
    func resolving(_ batch: String) throws -> (redis: RedisOptions, batch: String) {
        let reference: RunReference?
        do {
            reference = try RunReference(batch)
        } catch {
            // `batch` may also be the name of a batch. If no batch has this name, rethrow the error about the run.
            guard Path.split(batch).folder == nil, (try? connect().store.batch(named: batch)) != nil else {
                throw error
            }
            return (self, batch)
        }
        guard let reference else { return (self, batch) }
        var options = self
        options.runRedis = reference.redis
        if reference.redis != nil { options.run = (reference.batch, batch) }
        return (options, reference.batch)
    }

    /// Resolves an optional `batch` in the same way; if `batch` is nil, returns these options and nil.
    func resolving(_ batch: String?) throws -> (redis: RedisOptions, batch: String?) {
        guard let batch else { return (self, nil) }
        let (redis, name) = try resolving(batch)
        return (redis, name)
    }

    /// Connects to the Redis server that stores a batch, and finds the batch. `batch` may also be the output folder
    /// of a `darkroom run`.
    func connect(to batch: String) throws -> (redis: RedisOptions, client: DarkroomClient, batch: BatchFacts) {
        let (redis, name) = try resolving(batch)
        let client = try redis.connect()
        return (redis, client, try client.store.batch(named: name))
    }

    func keys() throws(InvalidNamespace) -> Keys { try Keys(namespace: namespace) }

    /// Returns a client that is already connected, so that a wrong address or password is reported at once.
    /// - Parameter onLack: Called when too few replicas have confirmed a change in time.
    func connect(onLack: @escaping @Sendable (ReplicaLack) -> Void = ControlOutput.warn(of:)) throws -> DarkroomClient {
        let configuration = try configuration()
        let client = DarkroomClient(RedisLocation(configuration, try keys()), onLack: onLack)
        do throws(RedisError) {
            try client.store.connection.connect()
        } catch {
            // A Redis server that is too old rejects the scripts with an unclear error. This check throws a clear
            // error.
            if error.code == .server { _ = try RedisRequirements.check(configuration) }
            throw error
        }
        return client
    }
}
