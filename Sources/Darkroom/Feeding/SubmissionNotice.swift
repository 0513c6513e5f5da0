import DarkroomCoordinator

/// A notice for the user while a photo list is fed. Feeding continues.
public struct SubmissionNotice: Sendable, CustomStringConvertible {
    /// The kind of notice. More codes may be added.
    public struct Code: Sendable, Hashable {
        private enum Kind {
            case redisLost, redisBack, readingAgain, listHasGrown, redisFull, redisHasRoom, notReplicated, notPersistent
        }
        private let kind: Kind

        /// Redis is unreachable. Feeding tries again.
        public static let redisLost = Code(kind: .redisLost)
        /// Redis answers again.
        public static let redisBack = Code(kind: .redisBack)
        /// The list is read again: Redis has lost operations, or another program has sealed the batch.
        public static let readingAgain = Code(kind: .readingAgain)
        /// The list has more photos than before. They are fed, too.
        public static let listHasGrown = Code(kind: .listHasGrown)
        /// Redis has no memory left. Feeding continues when Redis has free memory.
        public static let redisFull = Code(kind: .redisFull)
        /// Redis has free memory again.
        public static let redisHasRoom = Code(kind: .redisHasRoom)
        /// Fewer replicas than wanted have confirmed the batch within 10 seconds.
        public static let notReplicated = Code(kind: .notReplicated)
        /// Redis keeps no append-only file, so a restart of it loses the batch.
        public static let notPersistent = Code(kind: .notPersistent)
    }

    /// The kind of notice.
    public let code: Code
    /// A sentence for users.
    public let description: String

    init(_ notice: FeedNotice) {
        description = notice.description
        code =
            switch notice {
            case .connectionLost: .redisLost
            case .connectionRestored: .redisBack
            case .readingAgain, .overtaken: .readingAgain
            case .growing: .listHasGrown
            case .memoryFull, .memoryStaysFull: .redisFull
            case .memoryFreed: .redisHasRoom
            case .tooFewReplicas: .notReplicated
            case .notPersistent: .notPersistent
            }
    }
}
