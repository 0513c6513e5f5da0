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

    static func unexpectedReply(_ value: RedisValue, of script: String) -> StoreError {
        StoreError(
            .unexpectedReply,
            "\(script): the reply is none that this version knows (\(value)); are all machines on one version?")
    }
}

extension StoreError {
    /// True when Redis is away and may come back, or cannot write to its disk until somebody makes room.
    public var isPassing: Bool { redis?.isPassing == true }
}
