import DarkroomModel

/// Why a batch, or the cluster, was not steered as it was asked. Nothing was changed, unless the text says what was.
package struct ControlError: Error, Sendable, CustomStringConvertible {
    /// What kind of refusal it is; more may be added.
    package struct Code: Sendable, Hashable {
        private enum Kind {
            case batchGone, finished, cancelled, started, circle, itself, notFed, outsideList, outOfBounds, busy
            case outputTaken
        }
        private let kind: Kind

        /// The batch, or one that it is to wait for, is not, or no longer, in Redis.
        package static let batchGone = Code(kind: .batchGone)
        /// The batch has finished: nothing of it is left to be steered.
        package static let finished = Code(kind: .finished)
        /// The batch is cancelled, which is for good.
        package static let cancelled = Code(kind: .cancelled)
        /// The batch has started, so it cannot be made to wait any more.
        package static let started = Code(kind: .started)
        /// The batches would wait for each other.
        package static let circle = Code(kind: .circle)
        /// A batch cannot wait for itself.
        package static let itself = Code(kind: .itself)
        /// Some of the photos are not fed yet; trying again later can help.
        package static let notFed = Code(kind: .notFed)
        /// The photos are none of the batch's, all of which are fed.
        package static let outsideList = Code(kind: .outsideList)
        /// A limit is smaller or larger than limits may be.
        package static let outOfBounds = Code(kind: .outOfBounds)
        /// Others kept changing what it depends on; trying again can help.
        package static let busy = Code(kind: .busy)
        /// Another batch has taken the output folder.
        package static let outputTaken = Code(kind: .outputTaken)
    }

    /// What kind of refusal it is.
    package let code: Code
    /// What failed, on what, what was found, what to do.
    package let description: String

    /// An error with the whole sentence that users read.
    package init(_ code: Code, _ description: String) {
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
