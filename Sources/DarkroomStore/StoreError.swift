import DarkroomRedis

/// Why the store could not do what it was asked.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public struct Code: Sendable, Hashable {
        private enum Kind { case redis, unsuitableRedis, unexpectedReply, damagedEntry, noSuchBatch, ambiguousBatch }
        private let kind: Kind
        /// Redis could not be reached or refused; ``StoreError/redis`` says why, and whether trying again can help.
        public static let redis = Code(kind: .redis)
        /// The Redis is too old, or set up so that it would lose what is queued.
        public static let unsuitableRedis = Code(kind: .unsuitableRedis)
        /// What came back is nothing that this version's scripts answer.
        public static let unexpectedReply = Code(kind: .unexpectedReply)
        /// An operation's entry cannot be read.
        public static let damagedEntry = Code(kind: .damagedEntry)
        /// No batch has that id, prefix or name.
        public static let noSuchBatch = Code(kind: .noSuchBatch)
        /// Several batches have that prefix or name.
        public static let ambiguousBatch = Code(kind: .ambiguousBatch)
    }

    /// What kind of failure it is.
    public let code: Code
    /// What failed, what was found, what to do.
    public let description: String
    /// The failure of Redis behind it.
    public let redis: RedisError?

    /// An error with its text, which says what failed, what was found, what to do.
    public init(_ code: Code, _ description: String, redis: RedisError? = nil) {
        self.code = code
        self.description = description
        self.redis = redis
    }

    init(_ error: RedisError, attempted: String) {
        self.init(.redis, "\(attempted): \(error)", redis: error)
    }

    /// - Parameter position: which element of the reply it is, where it is one alone.
    static func unexpectedReply(_ value: RedisValue, of script: String, at position: Int? = nil) -> StoreError {
        let place = position.map { "element \($0) is " } ?? ""
        return StoreError(
            .unexpectedReply,
            "\(script): the reply is none that this version knows (\(place)\(value.summary)); are all machines on one version?"
        )
    }
}

extension RedisValue {
    /// What kind of reply it is, and its beginning: the whole may have megabytes, and is printed again and again.
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
    /// True when Redis is away and may come back, or cannot write to its disk until somebody makes room.
    public var isPassing: Bool { redis?.isPassing == true }
}
