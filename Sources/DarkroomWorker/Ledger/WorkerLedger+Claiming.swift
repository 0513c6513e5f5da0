import DarkroomModel
import DarkroomStore

/// What to claim.
extension WorkerLedger {
    /// The most operations that are done and wait to be reported; with more, nothing is claimed.
    private static let maxUnreported = 256

    /// How many photos a claim should ask for, 0 when the worker holds enough: what fills its queues and one operation more.
    var photosWanted: Int { photosWanted(from: .veryLow) }

    /// The lowest priority of which the worker does not hold enough; nil when it holds enough of all.
    var lowestWanted: Priority? { Priority.allCases.first { photosWanted(from: $0) > 0 } }

    /// How many photos of a priority or a higher one a claim should ask for. What is less urgent does not stand in the way: so a
    /// full worker has room for an operation that is more urgent than all that it holds. Nor do stalled batches: nothing of them can
    /// begin now.
    func photosWanted(from priority: Priority) -> Int {
        guard !isStopping, doneOperations < Self.maxUnreported,
            stalled[priority.rank...].reduce(0, +) < Self.maxStalled
        else { return 0 }
        var (unbegun, operations, largest) = (0, 0, 0)
        for id in beginLanes[priority.rank...].joined() {
            guard let batch = batches[id] else { continue }
            unbegun += batch.unbegun
            operations += batch.toBegin.count
            largest = max(largest, min(batch.operationSize, batch.unbegun))
        }
        let room = window - active[priority.rank...].reduce(0, +)
        return operations > 1 ? max(0, room - (unbegun - largest)) : max(1, room - unbegun)
    }

    /// The batch of which an operation in focus is to be claimed although the worker may be full, and its priority; nil when there
    /// is one here with photos of the focus left to begin, or too much beside it: so a focus that moves a hundred times a second
    /// costs little.
    var focusedWanted: (batch: BatchID, priority: Priority)? {
        guard let id = focusToClaim, !isStopping, doneOperations < Self.maxUnreported,
            batches[id]?.isStalled != true
        else { return nil }
        let priority = controls.batch(id).priority
        let waiting = beginLanes.joined().compactMap { batches[$0] }
        let largest = waiting.map(\.operationSize).max() ?? 0
        guard waiting.reduce(0, { $0 + $1.unbegun }) < 4 * window + 2 * largest else { return nil }
        let isHere = batches[id]?.toBegin.contains { operations[$0]?.hasFocusedPhotosToBegin == true } ?? false
        return isHere ? nil : (id, priority)
    }

    /// How many photos the claim asks for: of small operations several, so that each batch whose turn it is hands one out.
    func photosToClaim(from priority: Priority) -> Int { max(photosWanted(from: priority), window / 2) }

    /// What the worker has room for.
    var wants: ClaimPlan.Wants {
        let takesOthers = takesOthers
        return ClaimPlan.Wants(
            lowest: lowestWanted, focused: focusedWanted, hungry: takesOthers ? leastHungry : nil,
            takesOthers: takesOthers)
    }

    /// Whether a little more may be held of batches that have nothing left to begin here, while others fill the worker: their
    /// turn would come only when those have begun.
    private var takesOthers: Bool {
        guard !isStopping, doneOperations < Self.maxUnreported, stalled.reduce(0, +) < Self.maxStalled else {
            return false
        }
        let waiting = beginLanes.joined().compactMap { batches[$0] }
        let largest = waiting.map(\.operationSize).max() ?? 0
        return waiting.reduce(0) { $0 + $1.unbegun } < window + 2 * largest
    }

    private var leastHungry: Priority? {
        let rank = hungryToServe.compactMap { batches[$0] }.filter(\.mayDownload).map(\.rank).min()
        return rank.map { Priority.allCases[$0] }
    }

    /// The hungry batches of which more could begin.
    var hungryToServe: Set<BatchID> { hungry.filter { batches[$0]?.isStalled != true } }

    /// Batches that have enough to begin here: a claim for those that have nothing leaves them out.
    var fed: [BatchID] { Array(beginLanes.joined()) }

    /// A claim for hungry batches brought operations of some: of the others that it asked for there is nothing to be had.
    mutating func served(_ batches: Set<BatchID>, asked: Set<BatchID>) { hungry.subtract(asked.subtracting(batches)) }

    /// A batch has a focus: a full worker may have to claim an operation for it. The latest wins.
    mutating func noteFocus(of id: BatchID, _ controls: BatchControls) {
        if controls.focus != nil, !controls.isCancelled, !controls.isSuspended, !controls.areDownloadsSuspended {
            focusToClaim = id
        } else if focusToClaim == id {
            focusToClaim = nil
        }
    }

    /// Whether there may be something to claim for.
    var wantsMore: Bool {
        photosWanted > 0 || !hungryToServe.isEmpty && takesOthers || focusToClaim != nil && focusedWanted != nil
    }

    /// Batches of which nothing more is to be claimed: they are stalled, or their filtrations are suspended, and what is downloaded
    /// of them takes as much room as it may.
    var unwanted: [BatchID] {
        batches.filter { id, batch in
            batch.isStalled
                || !batch.mayFilter && batch.mayDownload && batch.controls.areFiltrationsSuspended
                    && (bytesHeld + transfers * typicalBytes >= maxBytesHeld / 2)
        }.map(\.key)
    }
}
