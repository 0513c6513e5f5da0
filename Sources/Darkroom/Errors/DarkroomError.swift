/// Why the library could not do what it was asked.
///
/// A cancelled task is not such an error: it ends with `CancellationError`.
public struct DarkroomError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is. More codes may be added, so a `switch` over them needs a default.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String {
            case invalidConfiguration, invalidOptions, redisUnreachable, redisRefused, unsuitableRedis, noSuchBatch
            case ambiguousName, batchDamaged, batchFinished, batchCancelled, batchStarted, batchUnfinished
            case circularDependency, photosNotFed, photosOutsideList, busy, nameTaken, outputTaken, outputUnusable
            case listEmpty, listUnreadable, listDiffers, notDurable, timedOut, manifestUnreadable, other
        }
        private let kind: Kind

        /// An address, a namespace or a setting of a worker is invalid.
        public static let invalidConfiguration = Code(kind: .invalidConfiguration)
        /// An option of a batch, or a limit, is out of bounds or invalid. Nothing was changed.
        public static let invalidOptions = Code(kind: .invalidOptions)
        /// Redis does not answer, or is not ready. Trying again can help.
        public static let redisUnreachable = Code(kind: .redisUnreachable)
        /// Redis answered with an error that trying again does not cure.
        public static let redisRefused = Code(kind: .redisRefused)
        /// The Redis is too old, or is set up so that it would lose batches.
        public static let unsuitableRedis = Code(kind: .unsuitableRedis)
        /// The batch is not in Redis: it was forgotten, or never submitted.
        public static let noSuchBatch = Code(kind: .noSuchBatch)
        /// Several batches have that prefix of an id.
        public static let ambiguousName = Code(kind: .ambiguousName)
        /// The data of the batch in Redis is damaged, so that no worker runs it. Forget it, and submit its list again.
        public static let batchDamaged = Code(kind: .batchDamaged)
        /// The batch has finished, so that nothing of it is left to change.
        public static let batchFinished = Code(kind: .batchFinished)
        /// The batch is cancelled, which cannot be undone.
        public static let batchCancelled = Code(kind: .batchCancelled)
        /// The batch has started, so that it cannot be made to wait.
        public static let batchStarted = Code(kind: .batchStarted)
        /// The batch has not finished, and only a finished batch was to be forgotten.
        public static let batchUnfinished = Code(kind: .batchUnfinished)
        /// The batches would wait for each other, or one for itself.
        public static let circularDependency = Code(kind: .circularDependency)
        /// Some of the photos are not fed yet. Trying again later can help.
        public static let photosNotFed = Code(kind: .photosNotFed)
        /// The batch has no photos with these indexes.
        public static let photosOutsideList = Code(kind: .photosOutsideList)
        /// Other programs kept changing what the call depends on. Trying again can help.
        public static let busy = Code(kind: .busy)
        /// Another batch that has not finished has the name.
        public static let nameTaken = Code(kind: .nameTaken)
        /// Another batch has the output folder.
        public static let outputTaken = Code(kind: .outputTaken)
        /// The output folder cannot be made or written, or another process works on it.
        public static let outputUnusable = Code(kind: .outputUnusable)
        /// The photo list has no photos. Nothing was submitted.
        public static let listEmpty = Code(kind: .listEmpty)
        /// The photo list cannot be read, or is no photo list.
        public static let listUnreadable = Code(kind: .listUnreadable)
        /// The photo list is not the one from which the batch was fed.
        public static let listDiffers = Code(kind: .listDiffers)
        /// All photos are fed, but neither the disk nor a replica of Redis has confirmed it.
        public static let notDurable = Code(kind: .notDurable)
        /// The timeout passed first.
        public static let timedOut = Code(kind: .timedOut)
        /// The manifest beside the photos is missing or cannot be read.
        public static let manifestUnreadable = Code(kind: .manifestUnreadable)
        /// Another failure; ``DarkroomError/message`` and ``DarkroomError/cause`` say more.
        public static let other = Code(kind: .other)

        /// A word without variable parts, for example as label of a metric.
        public var description: String { kind.rawValue }
    }

    /// What kind of failure it is.
    public let code: Code
    /// What was attempted: `cancel batch 20261121-090501123-7f3a`.
    public let attempted: String
    /// What failed, on what, what was found, what to do: whole sentences.
    public let message: String
    /// The error behind it; nil if there is none.
    public let cause: (any Error)?

    package init(_ code: Code, _ attempted: String, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.attempted = attempted
        self.message = message
        self.cause = cause
    }

    /// The message.
    public var description: String { message }

    /// Whether the same call can succeed later without anybody having changed anything.
    public var isTransient: Bool { [.redisUnreachable, .busy, .photosNotFed].contains(code) }
}

extension DarkroomError: Equatable {
    /// Compares code and texts; the cause is left out.
    public static func == (left: DarkroomError, right: DarkroomError) -> Bool {
        (left.code, left.attempted, left.message) == (right.code, right.attempted, right.message)
    }
}

extension DarkroomError {
    static func gone(_ id: BatchID, _ attempted: String) -> DarkroomError {
        DarkroomError(.noSuchBatch, attempted, "batch \(id) is not in Redis: it was forgotten, or never there")
    }

    static func damaged(_ batch: BatchFacts, _ attempted: String) -> DarkroomError {
        DarkroomError(
            .batchDamaged, attempted,
            "batch \(batch.id) is damaged in Redis: \(batch.damage.joined(separator: ", ")); forget it, and submit its list "
                + "again")
    }
}
