/// The error that calls of the library throw. A call whose task is cancelled throws `CancellationError` instead.
public struct DarkroomError: Error, Remediable {
    /// The kind of failure. More codes may be added, so a `switch` over them needs a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String {
            case invalidConfiguration, invalidOptions, redisUnreachable, redisRefused, unsuitableRedis, noSuchBatch
            case ambiguousName, batchDamaged, batchFinished, batchCancelled, batchStarted, batchUnfinished
            case circularDependency, photosNotFed, photosOutsideList, busy, nameTaken, outputTaken, outputUnusable
            case listEmpty, listUnreadable, listDiffers, notDurable, timedOut, manifestUnreadable, alreadyStarted, other
        }
        private let kind: Kind

        /// An address, a namespace or a setting of a worker is invalid.
        public static let invalidConfiguration = Code(kind: .invalidConfiguration)
        /// An option of a batch, or a limit, is invalid or out of bounds. Nothing was changed.
        public static let invalidOptions = Code(kind: .invalidOptions)
        /// Redis is unreachable or not ready. A retry can help.
        public static let redisUnreachable = Code(kind: .redisUnreachable)
        /// Redis replied with an error. A retry does not help.
        public static let redisRefused = Code(kind: .redisRefused)
        /// Redis is too old, or its configuration would let it lose batches.
        public static let unsuitableRedis = Code(kind: .unsuitableRedis)
        /// The batch is not in Redis: it was forgotten or never submitted.
        public static let noSuchBatch = Code(kind: .noSuchBatch)
        /// Several batches have an id with this prefix.
        public static let ambiguousName = Code(kind: .ambiguousName)
        /// The batch is damaged in Redis, so no worker runs it. Forget the batch, and submit its list again.
        public static let batchDamaged = Code(kind: .batchDamaged)
        /// The batch has finished, so the change would have no effect.
        public static let batchFinished = Code(kind: .batchFinished)
        /// The batch is cancelled. This cannot be undone.
        public static let batchCancelled = Code(kind: .batchCancelled)
        /// The batch has started, so it cannot be made to wait.
        public static let batchStarted = Code(kind: .batchStarted)
        /// The batch has not finished, but the call may only forget finished batches.
        public static let batchUnfinished = Code(kind: .batchUnfinished)
        /// After the change, batches would wait for each other, or a batch would wait for itself.
        public static let circularDependency = Code(kind: .circularDependency)
        /// Some of the photos are not fed yet. A later retry can help.
        public static let photosNotFed = Code(kind: .photosNotFed)
        /// The batch has no photos with these indexes.
        public static let photosOutsideList = Code(kind: .photosOutsideList)
        /// Other programs kept changing the data that the call needs. A retry can help.
        public static let busy = Code(kind: .busy)
        /// Another unfinished batch has this name.
        public static let nameTaken = Code(kind: .nameTaken)
        /// Another batch has taken the output folder.
        public static let outputTaken = Code(kind: .outputTaken)
        /// The output folder cannot be created or written to, or it is in use by another process.
        public static let outputUnusable = Code(kind: .outputUnusable)
        /// The photo list contains no photos. Nothing was submitted.
        public static let listEmpty = Code(kind: .listEmpty)
        /// The photo list cannot be read, or it is not a photo list.
        public static let listUnreadable = Code(kind: .listUnreadable)
        /// The photo list differs from the list from which the batch was fed.
        public static let listDiffers = Code(kind: .listDiffers)
        /// The batch is fed, but it has not been written to the append-only file of Redis yet.
        public static let notDurable = Code(kind: .notDurable)
        /// The timeout has passed.
        public static let timedOut = Code(kind: .timedOut)
        /// The manifest in the output folder is missing or cannot be read.
        public static let manifestUnreadable = Code(kind: .manifestUnreadable)
        /// The worker has been started, stopped or abandoned before. A new ``PhotoWorker`` can be started.
        public static let alreadyStarted = Code(kind: .alreadyStarted)
        /// Another failure; see ``DarkroomError/message`` and ``DarkroomError/cause``.
        public static let other = Code(kind: .other)

        /// The name of the code. It has no variable parts, so it can be a metric label.
        public var description: String { kind.rawValue }
    }

    /// The kind of failure.
    public let code: Code
    /// The attempted call, for example `cancel batch 20261121-090501123-7f3a`.
    public let attempted: String
    package let problem: String
    package let remedies: [Remedy]
    /// The underlying error; nil if there is none.
    public let cause: (any Error)?

    /// The field of a ``Submission`` whose value is invalid; nil for other failures.
    public var field: Submission.Field? { (cause as? FieldError)?.field }

    /// - Parameter problem: what failed, on which object, what was found, and what to do if there are no `remedies`.
    package init(
        _ code: Code, _ attempted: String, _ problem: String, _ remedies: [Remedy] = [], cause: (any Error)? = nil
    ) {
        self.code = code
        self.attempted = attempted
        self.problem = problem
        self.remedies = remedies
        self.cause = cause
    }

    /// What failed, on which object, what was found, and what to do.
    public var message: String { RemedyWording.neutral.sentence(problem, remedies) }

    /// Returns ``message``.
    public var description: String { message }

    /// Whether the same call can succeed later without any action by the user.
    public var isTransient: Bool { [.redisUnreachable, .busy, .photosNotFed].contains(code) }
}

extension DarkroomError: Equatable {
    /// Compares code and texts, but not the cause.
    public static func == (left: DarkroomError, right: DarkroomError) -> Bool {
        (left.code, left.attempted, left.message) == (right.code, right.attempted, right.message)
    }
}

extension DarkroomError {
    static func gone(_ id: BatchID, _ attempted: String) -> DarkroomError {
        DarkroomError(
            .noSuchBatch, attempted, "batch \(id) is not in Redis: it was forgotten or never submitted", [.listBatches])
    }

    static func damaged(_ batch: BatchFacts, _ attempted: String) -> DarkroomError {
        DarkroomError(
            .batchDamaged, attempted,
            "batch \(batch.id) is damaged in Redis: \(batch.damage.joined(separator: ", "))",
            [.submitAgain(insteadOf: batch.id)])
    }
}
