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
    func int(_ position: Int) throws(StoreError) -> Int { try value(position) { $0.number } }

    func string(_ position: Int) throws(StoreError) -> String { try value(position) { $0.string } }

    func batch(_ position: Int) throws(StoreError) -> BatchID { try value(position) { $0.batch } }

    func bytes(_ position: Int) throws(StoreError) -> [UInt8] { try value(position) { $0.bytes } }

    func array(_ position: Int) throws(StoreError) -> [RedisValue] { try value(position) { $0.array } }

    /// The error for a reply that this version does not know.
    var unexpected: StoreError { .unexpectedReply(.array(elements), of: script) }

    /// The element at `position`, converted by `form`. If the reply is too short, the element counts as null.
    private func value<Value>(_ position: Int, as form: (RedisValue) -> Value?) throws(StoreError) -> Value {
        let element = position < elements.count ? elements[position] : .null
        guard let value = form(element) else { throw .unexpectedReply(element, of: script, at: position) }
        return value
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
