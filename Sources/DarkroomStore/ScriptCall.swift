import DarkroomModel
import DarkroomRedis

/// One call of a script, and how its reply is read: a value that can be performed alone or in a pipeline.
public struct ScriptCall<Reply: Sendable>: Sendable {
    let script: RedisScript
    let command: RedisCommand
    let decode: @Sendable (ScriptReply) throws(StoreError) -> Reply

    init(
        _ script: RedisScript, _ keys: StoreKeys, _ arguments: [[UInt8]],
        decode: @escaping @Sendable (ScriptReply) throws(StoreError) -> Reply
    ) {
        self.script = script
        command = script.command(keys: [keys.prefix], arguments: arguments)
        self.decode = decode
    }

    /// Reads what Redis answered.
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

/// The prefix of the keys as bytes, the one key that each script is given.
struct StoreKeys: Sendable {
    let prefix: [UInt8]
}

/// A reply of a script: a status word and what follows it.
struct ScriptReply {
    let script: String
    let status: String
    let elements: [RedisValue]

    /// The element at `position` (0 is the status) as an integer.
    func int(_ position: Int) throws(StoreError) -> Int {
        guard let value = element(position).number else { throw unexpected(at: position) }
        return value
    }

    /// The element at `position` as text.
    func string(_ position: Int) throws(StoreError) -> String {
        guard let value = element(position).string else { throw unexpected(at: position) }
        return value
    }

    /// The element at `position` as the id of a batch.
    func batch(_ position: Int) throws(StoreError) -> BatchID {
        guard let batch = element(position).batch else { throw unexpected(at: position) }
        return batch
    }

    /// The element at `position` as bytes.
    func bytes(_ position: Int) throws(StoreError) -> [UInt8] {
        guard let value = element(position).bytes else { throw unexpected(at: position) }
        return value
    }

    /// The element at `position` as a list.
    func array(_ position: Int) throws(StoreError) -> [RedisValue] {
        guard let value = element(position).array else { throw unexpected(at: position) }
        return value
    }

    /// The error that this reply is none that its script gives.
    var unexpected: StoreError { .unexpectedReply(.array(elements), of: script) }

    /// The element at `position`; nothing where the reply has fewer.
    private func element(_ position: Int) -> RedisValue { position < elements.count ? elements[position] : .null }

    private func unexpected(at position: Int) -> StoreError {
        .unexpectedReply(element(position), of: script, at: position)
    }
}

extension RedisValue {
    /// The id of a batch that this is; nil when it is none.
    var batch: BatchID? { string.flatMap { BatchID($0) } }

    /// A whole number within the bounds of what is stored; else nil.
    var number: Int? { int.flatMap { StoredBounds.numbers.contains($0) ? $0 : nil } }

    /// The number of an operation; nil when no batch can have it.
    var operation: Int? { int.flatMap { $0 >= 1 && StoredBounds.photos.contains($0) ? $0 : nil } }
}

extension Array where Element == UInt8 {
    init(_ value: Int) { self = Array(String(value).utf8) }
    init(_ text: String) { self = Array(text.utf8) }
}
