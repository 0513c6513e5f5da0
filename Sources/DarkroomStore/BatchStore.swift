import DarkroomModel
import DarkroomRedis

/// The batches in Redis. Every change is one script, performed alone or in a pipeline; `Operations` has one file for each.
///
/// Any thread may call it. The functions block until Redis has answered, so call them on threads of your own.
package final class BatchStore: Sendable {
    package let keys: Keys
    package let connection: RedisConnection
    /// The prefix of the keys, the one key that every script gets.
    let keyPrefix: [UInt8]

    /// A store in the namespace of `keys`. The connection is made by the first command, or by `connection.connect()`.
    package init(_ configuration: RedisConfiguration, keys: Keys) {
        self.keys = keys
        connection = RedisConnection(configuration, scripts: StoreScripts.all)
        keyPrefix = Array(keys.prefix.utf8)
    }

    package func perform<Reply>(_ call: ScriptCall<Reply>) throws(StoreError) -> Reply {
        try call.reply(of: connection.call([call.command])[0])
    }

    /// Performs several calls in one pipeline and waits for their replies; the first failure is thrown.
    package func perform<Reply>(_ calls: [ScriptCall<Reply>]) throws(StoreError) -> [Reply] {
        var replies: [Reply] = []
        for result in results(of: calls) { replies.append(try result.get()) }
        return replies
    }

    /// Performs several calls in one pipeline and waits for the result of each.
    package func results<Reply>(of calls: [ScriptCall<Reply>]) -> [Result<Reply, StoreError>] {
        guard !calls.isEmpty else { return [] }
        return Self.results(connection.call(calls.map(\.command)), of: calls)
    }

    /// Sends several calls in one pipeline; `completion` is called with their replies on the connection's
    /// thread, and must not block.
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

    /// Performs a plain command that changes nothing and waits for its reply.
    func read(_ command: RedisCommand) throws(StoreError) -> RedisValue {
        try read([command])[0]
    }

    /// Performs plain commands that change nothing in one pipeline and waits for their replies.
    /// - Parameter ofAnotherType: the result of a command whose key has a wrong type; nil makes this an error.
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
