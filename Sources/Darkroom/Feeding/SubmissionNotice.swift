import DarkroomCoordinator

/// What a program may want to show while a photo list is fed. Feeding goes on.
public struct SubmissionNotice: Sendable, CustomStringConvertible {
    /// What kind of notice it is. More codes may be added.
    public struct Code: Sendable, Hashable {
        private enum Kind {
            case redisLost, redisBack, readingAgain, listHasGrown, redisFull, redisHasRoom, notReplicated, notPersistent
        }
        private let kind: Kind

        /// Redis does not answer; feeding tries again.
        public static let redisLost = Code(kind: .redisLost)
        /// Redis answers again.
        public static let redisBack = Code(kind: .redisBack)
        /// The list is read again: Redis has lost operations, or another program has fed the batch to its end.
        public static let readingAgain = Code(kind: .readingAgain)
        /// The list has photos behind those that were fed before; they are fed, too.
        public static let listHasGrown = Code(kind: .listHasGrown)
        /// Redis has no memory left; feeding goes on as soon as there is some.
        public static let redisFull = Code(kind: .redisFull)
        /// Redis has memory again.
        public static let redisHasRoom = Code(kind: .redisHasRoom)
        /// Fewer replicas than asked for have confirmed the batch within 10 seconds.
        public static let notReplicated = Code(kind: .notReplicated)
        /// Redis keeps no append-only file, so that its restart loses the batch.
        public static let notPersistent = Code(kind: .notPersistent)
    }

    /// What kind of notice it is.
    public let code: Code
    /// A sentence for people.
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
