import DarkroomModel
import DarkroomStore

/// What a worker has room for.
package struct ClaimDemand: Sendable {
    /// The lowest priority of which it wants more; nil when it is full.
    package var lowest: BatchPriority?
    /// The batch of which it wants an operation in focus, although it may be full.
    package var focused: (batch: BatchID, priority: BatchPriority)?
    /// The lowest priority of batches that have no photo left to begin here, although the worker is full of others.
    package var drained: BatchPriority?
    /// Whether it takes a little of batches of which it has nothing, although it is full of others.
    package var takesOthers = false

    /// Demand for nothing, unless it is given.
    package init(lowest: BatchPriority? = nil) { self.lowest = lowest }
}

/// What a claim asked for.
package enum ClaimScope: Sendable, Equatable {
    /// Everything.
    case all
    /// Only operations in the focus of a batch.
    case focus(BatchID)
    /// Only batches of which the worker has nothing to begin; these of them were drained.
    case drained(Set<BatchID>)
}

/// What to claim.
extension WorkerState {
    /// The most operations that are done and not reported: with more, nothing is claimed.
    private static let maxUnreported = 256
    /// With more stalled batches of a priority and of all higher ones, nothing more is claimed for it.
    static let maxStalled = 500

    /// What the worker has room for.
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

    /// How many photos a claim for a priority and all higher ones asks for: of small operations several, so that each batch whose turn
    /// it is hands one out.
    package func photosToClaim(from priority: BatchPriority) -> Int { max(photosWanted(from: priority), window / 2) }

    /// The drained batches of which more could begin.
    package var claimableDrained: Set<BatchID> { drained.filter { batches[$0]?.isStalled != true } }

    /// The batches that a claim leaves out: their output cannot be written, they are stalled, or their filters are suspended and their
    /// downloaded photos take as much room as they may.
    /// - Parameter isForDrained: also those that have enough to begin here.
    package func excludedFromClaims(isForDrained: Bool) -> [BatchID] {
        let isFull =
            photos.bytesHeld + queues.total(\.downloads) * photos.typicalBytes >= configuration.maxBytesHeld / 2
        let unwanted = batches.filter { _, batch in
            batch.isStalled || batch.hold == .suspended(.filtrations) && isFull
        }
        return Array(unwanted.keys) + Array(outages.reasons.keys) + (isForDrained ? Array(queues.batchesToBegin()) : [])
    }

    /// How many photos of a priority or a higher one the worker wants: what fills its queues, and one operation more. Lower
    /// priorities do not count, so a full worker has room for an operation that is more urgent than all that it has. Stalled
    /// batches do not count either: nothing of them can begin now.
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

    /// Whether there may be something to claim for.
    var wantsMore: Bool {
        photosWanted(from: .veryLow) > 0 || !claimableDrained.isEmpty && takesOthers || focusedWanted != nil
    }

    private var mayClaim: Bool { !isStopping && doneOperations < Self.maxUnreported }

    /// The batch of which an operation in focus is to be claimed although the worker may be full, and its priority; nil when the
    /// worker has one with photos of the focus left to begin, or too much beside it: a focus that moves a hundred times a
    /// second must cost little.
    private var focusedWanted: (batch: BatchID, priority: BatchPriority)? {
        guard let id = focusToClaim, mayClaim, batches[id]?.isStalled != true else { return nil }
        let (unbegun, largest) = backlog
        guard unbegun < 4 * window + 2 * largest else { return nil }
        let isHere = batches[id]?.toBegin.contains { operations[$0]?.hasFocusedPhotosToBegin == true } ?? false
        return isHere ? nil : (id, controls.controls(of: id).priority)
    }

    /// Whether the worker takes a little more of batches that have nothing left to begin here, while others fill it: their turn
    /// would come only after those.
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

    /// A claim brought operations of these batches. There is nothing more to claim of the others that it asked for.
    mutating func claimAnswered(_ scope: ClaimScope, _ brought: Set<BatchID>) {
        switch scope {
        case .all: return
        case .focus(let id): if brought.isEmpty, focusToClaim == id { focusToClaim = nil }
        case .drained(let asked): drained.subtract(asked.subtracting(brought))
        }
    }

    /// A batch has another focus: a full worker may have to claim an operation for it. The latest counts.
    mutating func noteFocus(of id: BatchID, _ controls: BatchControls) {
        if controls.focus != nil, !controls.isCancelled, !controls.isSuspended, !controls.areDownloadsSuspended {
            focusToClaim = id
        } else if focusToClaim == id {
            focusToClaim = nil
        }
    }
}
