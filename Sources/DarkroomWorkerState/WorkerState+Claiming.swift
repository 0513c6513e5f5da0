import DarkroomModel
import DarkroomStore

/// The operations that a worker has room for.
package struct ClaimDemand: Sendable {
    /// The lowest priority that the worker has room for; nil if it is full.
    package var lowest: BatchPriority?
    /// The batch of which it claims an operation in focus, although it may be full.
    package var focused: (batch: BatchID, priority: BatchPriority)?
    /// The lowest priority of batches that have no photo left to begin here, although the worker is full of others.
    package var drained: BatchPriority?
    /// Whether it claims a few operations of batches of which it has none, although it is full of others.
    package var takesOthers = false

    package init(lowest: BatchPriority? = nil) { self.lowest = lowest }
}

/// The operations that a claim requested.
package enum ClaimScope: Sendable, Equatable {
    case all
    /// Only operations in the focus of a batch.
    case focus(BatchID)
    /// Only operations of batches of which the worker has no photo to begin; these of them were drained.
    case drained(Set<BatchID>)
}

/// Decides which operations to claim.
extension WorkerState {
    /// The most operations that are done and not reported: with more, the worker claims none.
    private static let maxUnreported = 256
    /// With more stalled batches of a priority and all higher ones, the worker claims no operation of this priority.
    static let maxStalled = 500

    package var demand: ClaimDemand {
        var demand = ClaimDemand(lowest: BatchPriority.allCases.first { photosWanted(from: $0) > 0 })
        demand.focused = focusedWanted
        demand.takesOthers = takesOthers
        if demand.takesOthers {
            let ranks = claimableDrained.compactMap { batches[$0] }.filter(\.hold.allowsDownloads).map(\.rank)
            demand.drained = ranks.min().map { BatchPriority.allCases[$0] }
        }
        return demand
    }

    /// How many photos a claim for a priority and all higher ones requests. Small operations come several at a time, one of each
    /// batch in turn.
    package func photosToClaim(from priority: BatchPriority) -> Int { max(photosWanted(from: priority), window / 2) }

    /// The drained batches of which more photos could begin.
    package var claimableDrained: Set<BatchID> { drained.filter { batches[$0]?.isStalled != true } }

    /// The batches that a claim excludes: their output cannot be written, they are stalled, or their filters are suspended and their
    /// downloaded photos use all the memory that they may.
    /// - Parameter isForDrained: also excludes batches that have enough photos to begin here.
    package func excludedFromClaims(isForDrained: Bool) -> [BatchID] {
        let isFull =
            photos.bytesHeld + queues.total(\.downloads) * photos.typicalBytes >= configuration.maxBytesHeld / 2
        let unwanted = batches.filter { _, batch in
            batch.isStalled || batch.controls.areFiltrationsSuspended && isFull
        }
        return Array(unwanted.keys) + Array(outages.reasons.keys) + (isForDrained ? Array(queues.batchesToBegin()) : [])
    }

    /// How many photos of a priority or a higher one the worker needs to fill its queues, plus one operation. Lower
    /// priorities do not count, so a full worker has room for an operation of a higher priority than all local ones. Stalled
    /// batches do not count either: none of their photos can begin now.
    func photosWanted(from priority: BatchPriority) -> Int {
        guard mayClaim, queues.total(\.stalled, from: priority.rank) < Self.maxStalled else { return 0 }
        var (unbegun, operations, largest) = (0, 0, 0)
        for id in queues.batchesToBegin(from: priority.rank) {
            guard let batch = batches[id] else { continue }
            unbegun += batch.unbegun
            operations += batch.toBegin.count
            largest = max(largest, min(batch.operationSize, batch.unbegun))
        }
        let room = window - queues.total(\.active, from: priority.rank)
        return operations > 1 ? max(0, room - (unbegun - largest)) : max(1, room - unbegun)
    }

    /// Whether there may be room for a claim.
    var wantsMore: Bool {
        photosWanted(from: .veryLow) > 0 || !claimableDrained.isEmpty && takesOthers || focusedWanted != nil
    }

    private var mayClaim: Bool { !isStopping && doneOperations < Self.maxUnreported }

    /// The batch of which the worker claims an operation in focus although it may be full, and its priority. Nil if the worker has
    /// such an operation with photos of the focus to begin, or too many photos of others: a focus that moves 100 times a second
    /// must cost little.
    private var focusedWanted: (batch: BatchID, priority: BatchPriority)? {
        guard let id = focusToClaim, mayClaim, batches[id]?.isStalled != true else { return nil }
        let (unbegun, largest) = backlog
        guard unbegun < 4 * window + 2 * largest else { return nil }
        let isHere = batches[id]?.toBegin.contains { operations[$0]?.hasFocusedPhotosToBegin == true } ?? false
        return isHere ? nil : (id, controls.controls(of: id).priority)
    }

    /// Whether a worker that is full of other batches claims a few operations of batches that have no photo to begin here.
    /// Otherwise these batches would have to wait until the others are done.
    private var takesOthers: Bool {
        guard mayClaim, queues.total(\.stalled) < Self.maxStalled else { return false }
        let (unbegun, largest) = backlog
        return unbegun < window + 2 * largest
    }

    /// Photos that are left to begin, and the size of the largest operation of their batches.
    private var backlog: (unbegun: Int, largest: Int) {
        queues.batchesToBegin().compactMap { batches[$0] }.reduce((0, 0)) {
            ($0.0 + $1.unbegun, max($0.1, $1.operationSize))
        }
    }

    /// Handles a claim that returned operations of these batches. The other requested batches have no operation to claim.
    mutating func claimAnswered(_ scope: ClaimScope, _ brought: Set<BatchID>) {
        switch scope {
        case .all: return
        case .focus(let id): if brought.isEmpty, focusToClaim == id { focusToClaim = nil }
        case .drained(let asked): drained.subtract(asked.subtracting(brought))
        }
    }

    /// Handles a new focus of a batch: a full worker may have to claim an operation for it. The latest focus counts.
    mutating func noteFocus(of id: BatchID, _ controls: BatchControls) {
        if controls.focus != nil, !controls.isCancelled, !controls.isSuspended, !controls.areDownloadsSuspended {
            focusToClaim = id
        } else if focusToClaim == id {
            focusToClaim = nil
        }
    }
}
