import DarkroomModel
import DarkroomRedis

/// A value that is decoded from the reply of its script.
protocol ScriptReplyDecodable: Sendable {
    init(_ reply: ScriptReply) throws(StoreError)
}

/// The reply of a script: a status word and further elements.
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

    /// The error that this version does not know the reply.
    var unexpected: StoreError { .unexpectedReply(.array(elements), of: script) }

    /// The element at `position` in another form. A reply with fewer elements counts as null there.
    private func value<Value>(_ position: Int, as form: (RedisValue) -> Value?) throws(StoreError) -> Value {
        let element = position < elements.count ? elements[position] : .null
        guard let value = form(element) else { throw .unexpectedReply(element, of: script, at: position) }
        return value
    }
}

extension RedisValue {
    /// The value as the id of a batch; nil if it is not one.
    var batch: BatchID? { string.flatMap { BatchID($0) } }

    /// The value as a whole number within the bounds of stored numbers; else nil.
    var number: Int? { int.flatMap { StoredBounds.numbers.contains($0) ? $0 : nil } }

    /// The value as the number of an operation; nil if no batch can have such an operation.
    var operation: Int? { int.flatMap { $0 >= 1 && StoredBounds.photos.contains($0) ? $0 : nil } }
}
