import DarkroomModel
import DarkroomStore

/// What cancelling single photos did.
package struct PhotosCancelled: Sendable, Equatable {
    /// Photos that were cancelled.
    package var cancelled = 0
    /// Photos that were filtered, failed or cancelled before and stay so.
    package var wereFinal = 0
}

/// What a focus reaches.
package struct FocusSet: Sendable, Equatable {
    /// How many photos of the range are fed.
    package let fed: Int
    /// True when the others of the range are none of the batch; otherwise they may still be fed, and come first then.
    package let isSealed: Bool
    /// False when the batch had this focus before.
    package let isNew: Bool
}

/// Single photos of a batch, by their indexes from 0.
extension BatchController {
    /// Cancels some photos of a batch; the others go on. Repeating it does no harm.
    /// - Parameter id: The batch.
    /// - Parameter ranges: any number of photos; all must be fed, otherwise none is cancelled.
    package func cancel(_ ranges: PhotoRanges, of id: BatchID) throws -> PhotosCancelled {
        guard let facts = try store.facts(of: id) else { throw ControlError.gone(id) }
        if let last = ranges.ranges.last?.upperBound, last >= facts.photos { throw Self.notFed(ranges, facts) }
        var sum = PhotosCancelled()
        // One call after the other: the script of a thousand photos takes its time, and others want theirs.
        for piece in ranges.pieces(of: Self.photosOfACall) {
            let photos = piece.reduce(0) { $0 + $1.count }
            switch try store.perform(store.cancelPhotos(id, piece)) {
            case .cancelled(let cancelled, let wereFinal):
                sum.cancelled += cancelled
                sum.wereFinal += wereFinal
            case .finished where sum == PhotosCancelled():
                throw ControlError.finished(id, "no photo of it is left to cancel")
            // It has finished by what was just cancelled, or is cancelled as a whole: nothing of these will run.
            case .finished, .cancelledBefore: sum.wereFinal += photos
            case .notFed(let fed):
                throw ControlError(
                    .notFed,
                    "batch \(id) has \(fed) photos now, it had \(facts.photos) before: Redis went back to an earlier state; "
                        + "\(sum.cancelled) photos were cancelled, cancel the others again once they are fed")
            case .gone: throw ControlError.gone(id)
            }
        }
        try awaitReplica()
        return sum
    }

    /// Makes these photos the next that run anywhere. The newest focus of a batch replaces the one before; it ends with the
    /// batch.
    /// - Parameters:
    ///   - id: the batch.
    ///   - range: indexes from 0; photos of it that are not fed yet are the next as soon as they are.
    ///   - only: the others stop, and are not handed out until the focus is cleared.
    package func focus(_ id: BatchID, _ range: ClosedRange<Int>, only: Bool) throws -> FocusSet {
        guard let facts = try store.facts(of: id) else { throw ControlError.gone(id) }
        guard range.lowerBound >= 0, !facts.sealed || range.lowerBound < facts.photos else {
            throw ControlError(
                .outsideList,
                "\(Self.extent(facts)): photos \(range.lowerBound)-\(range.upperBound) are none of it; give others")
        }
        let (isNew, photos) = try replaceFocus(
            of: id, BatchControls.Focus(range.clamped(to: StoredBounds.indexes), only: only),
            "no photo of it is left to run"
        )
        let fed = max(0, min(range.upperBound, photos - 1) - range.lowerBound + 1)
        return FocusSet(fed: fed, isSealed: facts.sealed, isNew: isNew)
    }

    /// Lets all photos of a batch run in their order again.
    /// - Returns: false when it had no focus.
    @discardableResult
    package func clearFocus(_ id: BatchID) throws -> Bool {
        try replaceFocus(of: id, nil, "its focus ended with it").isNew
    }

    private func replaceFocus(
        of id: BatchID, _ focus: BatchControls.Focus?, _ nothingLeft: String
    ) throws -> (isNew: Bool, photos: Int) {
        switch try steer(store.focus(id, focus)) {
        case .done(let isNew, let photos): return (isNew, photos)
        case .finished: throw ControlError.finished(id, nothingLeft)
        case .cancelled: throw ControlError.cancelled(id, nothingLeft)
        case .gone: throw ControlError.gone(id)
        }
    }

    /// How many photos a call of the script takes.
    private static let photosOfACall = 1000

    private static func notFed(_ ranges: PhotoRanges, _ facts: BatchFacts) -> ControlError {
        facts.sealed
            ? ControlError(
                .outsideList, "\(extent(facts)): photos \(ranges) are not all of it; none was cancelled, give others")
            : ControlError(
                .notFed,
                "\(extent(facts)), so far: photos \(ranges) are not all fed; none was cancelled, give others, or try again "
                    + "later")
    }

    /// What photos a batch has.
    private static func extent(_ facts: BatchFacts) -> String {
        switch facts.photos {
        case 0: "batch \(facts.id) has no photos"
        case 1: "batch \(facts.id) has 1 photo, with the index 0"
        default: "batch \(facts.id) has \(facts.photos) photos, with the indexes 0-\(facts.photos - 1)"
        }
    }
}
