import DarkroomModel
import DarkroomRedis

/// The batches in Redis. Each change is one script call, sent alone or in a pipeline.
///
/// Any thread may call these functions. They block until Redis has answered, so do not call them on threads of Swift
/// concurrency.
package final class BatchStore: Sendable {
    package let keys: Keys
    package let connection: RedisConnection
    /// The prefix of all keys, which is the only key that a script receives.
    let keyPrefix: [UInt8]

    /// Creates a store for the namespace of `keys`. The store connects at the first command or `connection.connect()`.
    /// - Parameter observer: called on the connection's thread. Must not block.
    package init(
        _ configuration: RedisConfiguration, keys: Keys,
        observer: (@Sendable (ConnectionObservation) -> Void)? = nil
    ) {
        self.keys = keys
        connection = RedisConnection(configuration, scripts: StoreScripts.all, observer: observer)
        keyPrefix = Array(keys.prefix.utf8)
    }

    package func perform<Reply>(_ call: ScriptCall<Reply>) throws(StoreError) -> Reply {
        try call.reply(of: connection.call([call.command])[0])
    }

    /// Performs several calls in one pipeline and waits for their replies. If calls fail, throws the first failure.
    package func perform<Reply>(_ calls: [ScriptCall<Reply>]) throws(StoreError) -> [Reply] {
        var replies: [Reply] = []
        for result in results(of: calls) { replies.append(try result.get()) }
        return replies
    }

    /// Performs several calls in one pipeline and waits for the result of each call.
    package func results<Reply>(of calls: [ScriptCall<Reply>]) -> [Result<Reply, StoreError>] {
        guard !calls.isEmpty else { return [] }
        return Self.results(connection.call(calls.map(\.command)), of: calls)
    }

    /// Sends several calls in one pipeline. Calls `completion` on the connection's thread, where it must not block.
    package func send<Reply>(
        _ calls: [ScriptCall<Reply>], completion: @escaping @Sendable ([Result<Reply, StoreError>]) -> Void
    ) {
        connection.send(calls.map(\.command)) { completion(Self.results($0, of: calls)) }
    }

    private static func results<Reply>(
        _ results: [Result<RedisValue, RedisError>], of calls: [ScriptCall<Reply>]
    ) -> [Result<Reply, StoreError>] {
        zip(calls, results).map { call, result in Result { () throws(StoreError) in try call.reply(of: result) } }
    }

    /// Performs a plain read-only command and waits for its reply.
    func read(_ command: RedisCommand) throws(StoreError) -> RedisValue {
        try read([command])[0]
    }

    /// Performs plain read-only commands in one pipeline and waits for their replies.
    /// - Parameter ofAnotherType: the result of a command whose key has a wrong type; if nil, a wrong type is an error.
    func read(_ commands: [RedisCommand], ofAnotherType: RedisValue? = nil) throws(StoreError) -> [RedisValue] {
        guard !commands.isEmpty else { return [] }
        var values: [RedisValue] = []
        for (command, result) in zip(commands, connection.call(commands)) {
            do {
                values.append(try result.get())
            } catch {
                if let ofAnotherType, error.serverErrorName == "WRONGTYPE" {
                    values.append(ofAnotherType)
                    continue
                }
                let words = command.arguments.prefix(2).map { String(decoding: $0, as: UTF8.self) }
                throw StoreError(error, attempted: words.joined(separator: " "))
            }
        }
        return values
    }
}
