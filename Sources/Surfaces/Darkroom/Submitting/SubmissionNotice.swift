import DarkroomCoordinator

/// A notice for the user about a running feed. Feeding continues after each notice.
public struct SubmissionNotice: Remediable {
    /// The kind of notice. Later versions may add codes.
    public struct Code: Sendable, Hashable {
        private enum Kind {
            case redisLost, redisBack, readingAgain, listHasGrown, redisFull, redisHasRoom, notReplicated, notPersistent
        }
        private let kind: Kind

        /// Redis is unreachable. The feed retries.
        public static let redisLost = Code(kind: .redisLost)
        /// Redis is reachable again.
        public static let redisBack = Code(kind: .redisBack)
        /// The list is read again, because Redis has lost operations or another program has sealed the batch.
        public static let readingAgain = Code(kind: .readingAgain)
        /// The list contains more photos than before. The new photos are also fed.
        public static let listHasGrown = Code(kind: .listHasGrown)
        /// Redis is out of memory. Feeding continues when memory is free again.
        public static let redisFull = Code(kind: .redisFull)
        /// Redis has free memory again.
        public static let redisHasRoom = Code(kind: .redisHasRoom)
        /// Fewer replicas than required have confirmed the batch within 10 seconds.
        public static let notReplicated = Code(kind: .notReplicated)
        /// Redis does not keep an append-only file, so a restart of Redis would lose the batch.
        public static let notPersistent = Code(kind: .notPersistent)
    }

    /// The kind of notice.
    public let code: Code
    package let problem: String
    package let remedies: [Remedy]

    /// A sentence for users.
    public var description: String { RemedyWording.neutral.sentence(problem, remedies) }

    init(_ notice: FeedNotice) {
        (problem, remedies) = (notice.problem, notice.remedies)
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
