import DarkroomModel

/// The operations that a worker needs from a claim.
package struct ClaimDemand: Sendable {
    /// The lowest priority at which the worker can take more operations; nil if the worker is full.
    package var lowest: BatchPriority?
    /// The batch in whose focus the worker claims an operation, even if the worker is full; nil if there is none.
    package var focused: (batch: BatchID, priority: BatchPriority)?
    /// The lowest priority of the drained batches from which even a full worker claims; nil if there are none.
    package var drained: BatchPriority?
    /// Whether the worker claims a few operations of drained batches, even if it is full of other batches.
    package var takesOthers = false
    /// Whether the worker holds no operation.
    package var isIdle = false

    package init(lowest: BatchPriority? = nil) { self.lowest = lowest }
}

/// The largest numbers of operations and photos that a claim returns.
package struct ClaimSize: Sendable, Equatable {
    package let operations: Int
    package let photos: Int

    /// The limits of `Claim.lua`.
    package static let most = ClaimSize(operations: 16, photos: 4000)
}

/// The operations that a claim has requested.
package enum ClaimScope: Sendable, Equatable {
    case all
    /// Only operations in the focus of this batch.
    case focus(BatchID)
    /// Only operations of batches that have no photos left to start in this worker. The set contains the drained
    /// batches at the time of the claim.
    case drained(Set<BatchID>)
}

/// Decides which operations to claim.
extension WorkerState {
    /// The largest number of operations of a priority and all higher priorities that a worker holds, except for
    /// operations in a focus. Without this limit, a worker whose photos wait for a slow host would take all operations,
    /// and leave none to workers that start later. Operations whose photos all wait for an answer count only for
    /// ``maxIdle``.
    static let maxHeld = 64
    static let maxIdle = 512
    /// If this many operations are done but not reported yet, the worker claims no operations.
    private static let maxUnreported = 256
    /// If this many batches of a priority and all higher priorities are stalled (see ``LocalBatch/isStalled``), the
    /// worker does not claim at this priority.
    static let maxStalled = 500

    package var demand: ClaimDemand {
        var demand = ClaimDemand(lowest: BatchPriority.allCases.first { photosWanted(from: $0) > 0 })
        demand.focused = focusedWanted
        demand.takesOthers = takesOthers
        demand.isIdle = leases.count == 0
        if demand.takesOthers {
            let ranks = claimableDrained.compactMap { batches[$0] }.filter(\.hold.allowsDownloads).map(\.rank)
            demand.drained = ranks.min().map { BatchPriority.allCases[$0] }
        }
        return demand
    }

    /// The size of a claim for a priority and all higher priorities. If the operations are small, the claim returns
    /// several operations, and takes them from the batches in turn.
    package func claimSize(from priority: BatchPriority) -> ClaimSize {
        ClaimSize(
            operations: max(1, min(ClaimSize.most.operations, Self.maxHeld - occupying(from: priority))),
            photos: max(1, min(ClaimSize.most.photos, max(photosWanted(from: priority), window / 2))))
    }

    /// The drained batches that are not stalled, so that more of their photos could start.
    package var claimableDrained: Set<BatchID> { drained.filter { batches[$0]?.isStalled != true } }

    /// The batches that a claim excludes: batches whose output cannot be written, and stalled batches. While downloaded
    /// photos use at least half of the memory that the worker allows for them, batches with suspended filtrations are
    /// also excluded.
    /// - Parameter isForDrained: whether the claim also excludes batches that have photos to start in this worker.
    package func excludedFromClaims(isForDrained: Bool) -> [BatchID] {
        let isFull =
            photos.bytesHeld + photos.bytesReserved >= configuration.maxBytesHeld / 2
        let unwanted = batches.filter { _, batch in
            batch.isStalled || batch.controls.areFiltrationsSuspended && isFull
        }
        return Array(unwanted.keys) + Array(outages.refusals.keys)
            + (isForDrained ? Array(queues.batchesToBegin()) : [])
    }

    /// The number of further photos of this or a higher priority that the worker needs to fill its queues and to have
    /// one operation in reserve. Lower priorities are not counted, so a worker that is full of lower priorities still
    /// claims higher priorities. Stalled batches are not counted, since none of their photos can start now.
    func photosWanted(from priority: BatchPriority) -> Int {
        guard mayClaim(from: priority), queues.total(\.stalled, from: priority.rank) < Self.maxStalled else { return 0 }
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

    /// Whether the worker may need operations from a claim.
    var wantsMore: Bool {
        photosWanted(from: .veryLow) > 0 || !claimableDrained.isEmpty && takesOthers || focusedWanted != nil
    }

    private func mayClaim(from priority: BatchPriority) -> Bool {
        guard mayClaim else { return false }
        guard leases.count >= Self.maxHeld else { return true }
        return leases.all.count { controls.controls(of: $0.batch).priority >= priority } < Self.maxIdle
            && occupying(from: priority) < Self.maxHeld
    }

    /// The number of operations that count for ``maxHeld``, of a priority and all higher priorities.
    private func occupying(from priority: BatchPriority) -> Int {
        leases.all.count {
            operations[$0]?.isIdling != true && controls.controls(of: $0.batch).priority >= priority
        }
    }

    private var mayClaim: Bool { !isStopping && doneOperations < Self.maxUnreported }

    /// The batch, and its priority, from whose focus even a full worker claims an operation. Nil if the worker already
    /// has an operation in the focus with photos to start. Also nil if the worker has too many photos to start, so that
    /// a focus that moves 100 times a second has a bounded cost.
    private var focusedWanted: (batch: BatchID, priority: BatchPriority)? {
        guard let id = focusToClaim, mayClaim, batches[id]?.isStalled != true else { return nil }
        let (unbegun, largest) = backlog
        guard unbegun < 4 * window + 2 * largest else { return nil }
        return hasFocusedPhotosToBegin(id) ? nil : (id, controls.controls(of: id).priority)
    }

    /// Whether a claim, or the preparation of a claimed operation, may bring photos in the focus of a batch. While this
    /// is possible, the other photos of the batch do not start: otherwise the rest of the first operation in the focus
    /// would run before the next operations in the focus.
    func awaitsFocus(_ batch: LocalBatch, _ id: BatchID) -> Bool {
        guard let focus = batch.controls.focus else { return false }
        let size = batch.operationSize
        let numbers = focus.photos.lowerBound / size + 1...focus.photos.upperBound / size + 1
        guard batch.operations.count(where: { numbers.contains($0.number) }) < numbers.count else { return false }
        return focusedWanted?.batch == id || leases.isPreparing { $0.batch == id && numbers.contains($0.number) }
    }

    /// Handles an interruption of claims, for example because Redis is unreachable: the worker no longer waits for
    /// operations in the focus. The next ordinary claims take these operations first. Notices of idle workers are
    /// dropped, because these workers may have operations when claims can be sent again.
    mutating func claimsPaused(_ effects: inout [Effect]) {
        operationsWanted = 0
        guard focusToClaim != nil else { return }
        focusToClaim = nil
        effects.append(.schedule(urgently: true))
    }

    /// Whether a full worker claims a few operations of batches that have no photo to start in this worker. Without
    /// these claims, such batches would wait until the other batches are done.
    private var takesOthers: Bool {
        guard mayClaim(from: .veryLow), queues.total(\.stalled) < Self.maxStalled else { return false }
        let (unbegun, largest) = backlog
        return unbegun < window + 2 * largest
    }

    /// The number of photos to start, and the size of the largest operation of their batches.
    private var backlog: (unbegun: Int, largest: Int) {
        queues.batchesToBegin().compactMap { batches[$0] }.reduce((0, 0)) {
            ($0.0 + $1.unbegun, max($0.1, $1.operationSize))
        }
    }

    /// Handles the reply to a claim. Batches that the claim requested and that are not in `brought` have no operations
    /// to claim.
    mutating func claimAnswered(_ scope: ClaimScope, _ brought: Set<BatchID>, _ effects: inout [Effect]) {
        switch scope {
        case .all: return
        case .focus(let id):
            guard brought.isEmpty, focusToClaim == id else { return }
            focusToClaim = nil
            effects.append(.schedule(urgently: true))  // the photos outside the focus
        case .drained(let asked): drained.subtract(asked.subtracting(brought))
        }
    }

    /// Handles a new focus of a batch. Even a full worker may have to claim an operation for the latest focus.
    mutating func noteFocus(of id: BatchID, _ controls: BatchControls) {
        if controls.focus != nil, !controls.isCancelled, !controls.isSuspended, !controls.areDownloadsSuspended {
            focusToClaim = id
        } else if focusToClaim == id {
            focusToClaim = nil
        }
    }
}
