import DarkroomModel
import DarkroomRedis

/// A failure of the store.
package struct StoreError: Error, Remediable {
    package enum Code: Sendable {
        /// Redis could not be reached, or it refused a command. ``StoreError/redis`` contains the cause, and reports
        /// whether a retry can help.
        case redis
        /// Redis is too old, or its configuration does not protect queued photos from loss.
        case unsuitableRedis
        /// The reply of a script is unknown to this version.
        case unexpectedReply
        /// No batch has this id, prefix or name.
        case noSuchBatch
        /// Several batches match this prefix or name.
        case ambiguousBatch
    }

    package let code: Code
    package let problem: String
    package let remedies: [Remedy]
    /// The failure of Redis that caused this error.
    package let redis: RedisError?

    /// - Parameter problem: the failed call, the cause, and the remedy if there are no `remedies`.
    package init(_ code: Code, _ problem: String, redis: RedisError? = nil, _ remedies: Remedy...) {
        self.code = code
        self.problem = problem
        self.remedies = remedies
        self.redis = redis
    }

    init(_ error: RedisError, attempted: String) {
        self.init(.redis, "\(attempted): \(error)", redis: error)
    }

    /// - Parameter position: the position of `value` in the reply; nil if `value` is the whole reply.
    static func unexpectedReply(_ value: RedisValue, of script: String, at position: Int? = nil) -> StoreError {
        let place = position.map { "element \($0) is " } ?? ""
        return StoreError(
            .unexpectedReply,
            "\(script): this version does not know the reply (\(place)\(value.summary)); are all machines on one version?"
        )
    }
}

extension RedisValue {
    /// A short description of the reply: its type and first bytes. The whole reply may be several megabytes long.
    var summary: String {
        switch self {
        case .null: return "nothing"
        case .integer(let value): return "the number \(value)"
        case .status(let text), .error(let text): return Self.quoted(Array(text.utf8))
        case .bytes(let bytes): return Self.quoted(bytes)
        case .array(let elements):
            let first = elements.first.map { $0.array == nil ? ", first \($0.summary)" : "" } ?? ""
            return "a list of \(elements.count)\(first)"
        }
    }

    private static func quoted(_ bytes: [UInt8]) -> String {
        let shown = String(decoding: bytes.prefix(40), as: UTF8.self)
        return bytes.count > 40 ? "\"\(shown)...\" of \(bytes.count) bytes" : "\"\(shown)\""
    }
}

extension StoreError {
    /// True if a retry can help: Redis cannot be reached, or it cannot write to its disk.
    package var isPassing: Bool { redis?.isPassing == true }
}
