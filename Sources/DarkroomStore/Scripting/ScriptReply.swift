import DarkroomModel
import DarkroomRedis

/// A value that can be decoded from the reply of a script.
protocol ScriptReplyDecodable: Sendable {
    init(_ reply: ScriptReply) throws(StoreError)
}

/// The reply of a script: a status word, followed by further elements.
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

    /// The error for a reply that this version does not know.
    var unexpected: StoreError { .unexpectedReply(.array(elements), of: script) }

    /// The element at `position`; null if the reply is shorter.
    private func element(_ position: Int) -> RedisValue { position < elements.count ? elements[position] : .null }

    private func unexpected(at position: Int) -> StoreError {
        .unexpectedReply(element(position), of: script, at: position)
    }
}

extension RedisValue {
    /// The value as the id of a batch; nil if it is not a valid id.
    var batch: BatchID? { string.flatMap { BatchID($0) } }

    /// The value as an integer within the bounds of stored numbers; else nil.
    var number: Int? { int.flatMap { StoredBounds.numbers.contains($0) ? $0 : nil } }

    /// The value as an operation number; nil if it is outside the valid range.
    var operation: Int? { int.flatMap { $0 >= 1 && StoredBounds.photos.contains($0) ? $0 : nil } }
}
