import DarkroomModel

/// The refusal of a change of a batch or of the cluster. Nothing was changed, unless the description says so.
package struct ControlError: Error, Sendable, CustomStringConvertible {
    /// The kind of refusal. More kinds may be added.
    package struct Code: Sendable, Hashable {
        private enum Kind {
            case batchGone, finished, cancelled, started, circle, itself, notFed, outsideList, outOfBounds, busy
            case outputTaken
        }
        private let kind: Kind

        /// The batch, or a batch for which it should wait, is not in Redis.
        package static let batchGone = Code(kind: .batchGone)
        /// The batch has finished, so the change would have no effect.
        package static let finished = Code(kind: .finished)
        /// The batch is cancelled. This cannot be undone.
        package static let cancelled = Code(kind: .cancelled)
        /// The batch has started, so it cannot be made to wait.
        package static let started = Code(kind: .started)
        /// The batches would wait for each other.
        package static let circle = Code(kind: .circle)
        /// A batch cannot wait for itself.
        package static let itself = Code(kind: .itself)
        /// Some of the photos are not fed yet. A later retry can help.
        package static let notFed = Code(kind: .notFed)
        /// The photos are outside the list, which is completely fed.
        package static let outsideList = Code(kind: .outsideList)
        /// A limit is out of bounds.
        package static let outOfBounds = Code(kind: .outOfBounds)
        /// Another change of the dependencies was in progress. A retry can help.
        package static let busy = Code(kind: .busy)
        /// Another batch has taken the output folder.
        package static let outputTaken = Code(kind: .outputTaken)
    }

    /// The kind of refusal.
    package let code: Code
    /// What failed, on which object, what was found, and what to do.
    package let description: String

    /// Creates an error with the complete message for users.
    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

extension ControlError {
    static func gone(_ id: BatchID) -> ControlError {
        ControlError(
            .batchGone,
            "batch \(id) is not in Redis: it was forgotten or never submitted; \"darkroom batches\" lists those that are"
        )
    }

    /// - Parameter what: why the change has no effect, for example `there is nothing left to suspend`.
    static func finished(_ id: BatchID, _ what: String) -> ControlError {
        ControlError(.finished, "batch \(id) has finished: \(what)")
    }

    /// - Parameter what: why the change has no effect, and what to do instead.
    static func cancelled(_ id: BatchID, _ what: String) -> ControlError {
        ControlError(.cancelled, "batch \(id) is cancelled: \(what)")
    }
}
