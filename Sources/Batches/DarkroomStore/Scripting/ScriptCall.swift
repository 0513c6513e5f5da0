import DarkroomModel
import DarkroomRedis

/// A call of a script, with the function that decodes its reply. The call is sent alone or in a pipeline.
package struct ScriptCall<Reply: Sendable>: Sendable {
    let script: RedisScript
    let command: RedisCommand
    let decode: @Sendable (ScriptReply) throws(StoreError) -> Reply

    func reply(of result: Result<RedisValue, RedisError>) throws(StoreError) -> Reply {
        switch result {
        case .failure(let error): throw StoreError(error, attempted: script.name)
        case .success(let value):
            guard let elements = value.array, let status = elements.first?.string else {
                throw StoreError.unexpectedReply(value, of: script.name)
            }
            return try decode(ScriptReply(script: script.name, status: status, elements: elements))
        }
    }
}

extension BatchStore {
    /// A call of `script` with the key prefix of this store.
    func call<Reply>(
        _ script: KeyPath<StoreScripts, RedisScript>, _ arguments: [any ScriptArgument],
        decode: @escaping @Sendable (ScriptReply) throws(StoreError) -> Reply
    ) -> ScriptCall<Reply> {
        let script = StoreScripts.shared[keyPath: script]
        let command = script.command(keys: [keyPrefix], arguments: arguments.map(\.argument))
        return ScriptCall(script: script, command: command, decode: decode)
    }

    func call<Reply: ScriptReplyDecodable>(
        _ script: KeyPath<StoreScripts, RedisScript>, _ arguments: [any ScriptArgument]
    ) -> ScriptCall<Reply> {
        call(script, arguments) { reply throws(StoreError) in try Reply(reply) }
    }
}

protocol ScriptArgument {
    /// The bytes that are passed to the script.
    var argument: [UInt8] { get }
}

extension Int: ScriptArgument {
    var argument: [UInt8] { Array(String(self).utf8) }
}

extension String: ScriptArgument {
    var argument: [UInt8] { Array(utf8) }
}

/// Passed as 1 or 0.
extension Bool: ScriptArgument {
    var argument: [UInt8] { [self ? 49 : 48] }
}

extension BatchID: ScriptArgument {
    var argument: [UInt8] { Array(description.utf8) }
}

extension Array: ScriptArgument where Element == UInt8 {
    var argument: [UInt8] { self }
}
