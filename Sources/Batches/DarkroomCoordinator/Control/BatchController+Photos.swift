import DarkroomModel
import DarkroomStore

package struct PhotosCancelled: Sendable, Equatable {
    package var cancelled = 0
    /// The number of photos that were already filtered, failed or cancelled, and remain unchanged.
    package var wereFinal = 0
}

package struct FocusSet: Sendable, Equatable {
    /// The number of fed photos in the range.
    package let fed: Int
    /// True if the whole list is fed. If false, further photos of the range may be fed later, and will then run first.
    package let isSealed: Bool
    /// False if the batch already had this focus.
    package let isNew: Bool
}

/// Functions that change single photos of a batch, given by their indexes from 0.
extension BatchController {
    package func cancel(_ ranges: PhotoRanges, of id: BatchID) throws -> PhotosCancelled {
        guard let facts = try store.facts(of: id) else { throw CoordinatorError.gone(id) }
        if let last = ranges.ranges.last?.upperBound, last >= facts.photos { throw Self.notFed(ranges, facts) }
        var sum = PhotosCancelled()
        // The photos are split into several calls, because Redis executes no other commands while a script is running.
        for piece in ranges.pieces(of: Self.photosOfACall) {
            let photos = piece.reduce(0) { $0 + $1.count }
            switch try store.perform(store.cancelPhotos(id, piece)) {
            case .cancelled(let cancelled, let wereFinal):
                sum.cancelled += cancelled
                sum.wereFinal += wereFinal
            case .finished where sum == PhotosCancelled():
                throw CoordinatorError.finished(id, "no photo of it is left to cancel")
            // The batch has finished or was cancelled as a whole, so none of the remaining photos will run.
            case .finished, .cancelledBefore: sum.wereFinal += photos
            case .notFed(let fed):
                throw CoordinatorError(
                    .notFed,
                    "batch \(id) has \(fed) photos now, it had \(facts.photos) before: Redis went back to an earlier state; "
                        + "\(sum.cancelled) photos were cancelled, cancel the others again once they are fed")
            case .gone: throw CoordinatorError.gone(id)
            }
        }
        try awaitReplica()
        return sum
    }

    /// Makes all workers run these photos first. When the batch finishes, its focus is removed.
    package func focus(_ id: BatchID, _ range: ClosedRange<Int>, only: Bool) throws -> FocusSet {
        guard let facts = try store.facts(of: id) else { throw CoordinatorError.gone(id) }
        guard range.lowerBound >= 0, !facts.sealed || range.lowerBound < facts.photos else {
            throw CoordinatorError(
                .outsideList,
                "\(Self.extent(facts)): photos \(range.lowerBound)-\(range.upperBound) are not in it; give other indexes"
            )
        }
        let focus = BatchControls.Focus(range.clamped(to: StoredBounds.indexes), only: only)
        let (isNew, photos) = try changeFocus(of: id, store.focus(id, focus), "no photo of it is left to run")
        let fed = max(0, min(range.upperBound, photos - 1) - range.lowerBound + 1)
        return FocusSet(fed: fed, isSealed: facts.sealed, isNew: isNew)
    }

    @discardableResult
    package func clearFocus(_ id: BatchID) throws -> Bool {
        try changeFocus(of: id, store.focus(id, nil), "its focus ended with it").isNew
    }

    /// Clears the focus of a batch. If another focus has replaced `range`, changes nothing and returns false.
    @discardableResult
    package func clearFocus(_ id: BatchID, ifStill range: ClosedRange<Int>) throws -> Bool {
        try changeFocus(of: id, store.clearFocus(id, ifStill: range), "its focus ended with it").isNew
    }

    private func changeFocus(
        of id: BatchID, _ call: ScriptCall<FocusReply>, _ nothingLeft: String
    ) throws -> (isNew: Bool, photos: Int) {
        switch try performChange(call) {
        case .done(let isNew, let photos): return (isNew, photos)
        case .finished: throw CoordinatorError.finished(id, nothingLeft)
        case .cancelled: throw CoordinatorError.cancelled(id, nothingLeft)
        case .gone: throw CoordinatorError.gone(id)
        }
    }

    private static let photosOfACall = 1000

    private static func notFed(_ ranges: PhotoRanges, _ facts: BatchFacts) -> CoordinatorError {
        facts.sealed
            ? CoordinatorError(
                .outsideList,
                "\(extent(facts)): photos \(ranges) are not all in it; no photo was cancelled, give other indexes")
            : CoordinatorError(
                .notFed,
                "\(extent(facts)), so far: photos \(ranges) are not all fed; no photo was cancelled, give other indexes, or "
                    + "try again later")
    }

    /// The number of photos in a batch, and their indexes, as part of a sentence.
    private static func extent(_ facts: BatchFacts) -> String {
        switch facts.photos {
        case 0: "batch \(facts.id) has no photos"
        case 1: "batch \(facts.id) has 1 photo, with the index 0"
        default: "batch \(facts.id) has \(facts.photos) photos, with the indexes 0-\(facts.photos - 1)"
        }
    }
}
