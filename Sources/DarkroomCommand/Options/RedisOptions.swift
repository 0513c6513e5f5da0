import ArgumentParsing
import Darkroom
import DarkroomCoordinator
import DarkroomFiles
import DarkroomRedis
import DarkroomStore

/// Which Redis, and which keys in it.
struct RedisOptions: ParsableArguments {
    // Text, not a value of its own: a usage error shows the value, and this one may hold a password.
    @Option(
        help: "The Redis: redis://[user:password@]host[:port][/database], rediss://..., unix:///path, "
            + "or redis+sentinel://host:port,host:port/service.",
        valueName: "url", environment: "DARKROOM_REDIS")
    var redis: String = "redis://127.0.0.1:6379"

    @OptionGroup(title: "Redis options") var access: RedisAccessOptions

    @Option(help: "What the keys begin with; one Redis can serve several.", valueName: "name")
    var namespace: String = "darkroom"

    /// The Redis of a run that was named by its folder, in place of the one that the options name.
    private var runRedis: RedisConfiguration?
    /// A run that was named by its folder and has a Redis of its own.
    private(set) var run: (batch: String, folder: String)?

    func validate() throws {
        _ = try configuration()
        do {
            _ = try keys()
        } catch {
            throw ValidationError("--\(error)")
        }
    }

    /// Where Redis is and how to get in.
    func configuration() throws -> RedisConfiguration { try runRedis ?? access.configuration(url: redis) }

    /// Resolves the output folder of a `darkroom run` to the id of its batch and the Redis of the run. Any other name is
    /// returned unchanged, with these options.
    func resolving(_ batch: String) throws -> (redis: RedisOptions, batch: String) {
        let reference: RunReference?
        do {
            reference = try RunReference(batch)
        } catch {
            // It may be the name of a batch, too. Where Redis cannot be asked, what is wrong with the run is the error to show.
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

    /// The same where no batch needs to be named.
    func resolving(_ batch: String?) throws -> (redis: RedisOptions, batch: String?) {
        guard let batch else { return (self, nil) }
        let (redis, name) = try resolving(batch)
        return (redis, name)
    }

    /// The names of the keys.
    func keys() throws(InvalidNamespace) -> Keys { try Keys(namespace: namespace) }

    /// A client of the Redis, connected, so that a wrong address or password is found now.
    /// - Parameter onLack: called when no replica has confirmed a change in time.
    func connect(onLack: @escaping @Sendable (ReplicaLack) -> Void = SteeringAnswer.warn(of:)) throws -> DarkroomClient
    {
        let configuration = try configuration()
        let client = DarkroomClient(RedisLocation(configuration, try keys()), onLack: onLack)
        do throws(RedisError) {
            try client.store.connection.connect()
        } catch {
            // A Redis that is too old refuses the scripts, in words that do not say so.
            if error.code == .server { _ = try RedisRequirements.check(configuration) }
            throw error
        }
        return client
    }
}
