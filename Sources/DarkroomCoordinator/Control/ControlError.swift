import DarkroomModel

/// Why a batch, or the cluster, was not steered as it was asked. Nothing was changed, unless the text says what was.
public struct ControlError: Error, Sendable, CustomStringConvertible {
    /// What kind of refusal it is; more may be added.
    public struct Code: Sendable, Hashable {
        private enum Kind {
            case batchGone, finished, cancelled, started, circle, itself, notFed, outsideList, outOfBounds, busy
            case outputTaken
        }
        private let kind: Kind

        /// The batch, or one that it is to wait for, is not, or no longer, in Redis.
        public static let batchGone = Code(kind: .batchGone)
        /// The batch has finished: nothing of it is left to be steered.
        public static let finished = Code(kind: .finished)
        /// The batch is cancelled, which is for good.
        public static let cancelled = Code(kind: .cancelled)
        /// The batch has started, so it cannot be made to wait any more.
        public static let started = Code(kind: .started)
        /// The batches would wait for each other.
        public static let circle = Code(kind: .circle)
        /// A batch cannot wait for itself.
        public static let itself = Code(kind: .itself)
        /// Some of the photos are not fed yet; trying again later can help.
        public static let notFed = Code(kind: .notFed)
        /// The photos are none of the batch's, all of which are fed.
        public static let outsideList = Code(kind: .outsideList)
        /// A limit is smaller or larger than limits may be.
        public static let outOfBounds = Code(kind: .outOfBounds)
        /// Others kept changing what it depends on; trying again can help.
        public static let busy = Code(kind: .busy)
        /// Another batch has taken the output folder.
        public static let outputTaken = Code(kind: .outputTaken)
    }

    /// What kind of refusal it is.
    public let code: Code
    /// What failed, on what, what was found, what to do.
    public let description: String

    /// An error with the whole sentence that users read.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

extension ControlError {
    static func gone(_ id: BatchID) -> ControlError {
        ControlError(
            .batchGone,
            "batch \(id) is not in Redis: it was forgotten, or never there; \"darkroom batches\" lists those that are")
    }

    /// - Parameter what: what was asked, which no longer makes sense: `there is nothing left to suspend`.
    static func finished(_ id: BatchID, _ what: String) -> ControlError {
        ControlError(.finished, "batch \(id) has finished: \(what)")
    }

    /// - Parameter what: what was asked, and what to do instead.
    static func cancelled(_ id: BatchID, _ what: String) -> ControlError {
        ControlError(.cancelled, "batch \(id) is cancelled: \(what)")
    }
}
