import DarkroomModel

@testable import DarkroomStore
@testable import StoreInspection

/// Controls of unfinished batches.
extension StoreModel {
    mutating func cancel(_ id: BatchID, _ reason: String) -> CancelReply {
        guard let batch = state.batches[id], batch.state != nil else { return .gone }
        if !batch.isCancelled {
            if batch.state == .finished { return .finished }
            cancelNow(id, reason)
        }
        return .cancelled(isNew: !batch.isCancelled, isFinished: state.batches[id]!.state == .finished)
    }

    /// Cancels a batch, without changing its state codes. The batch finishes when no operation executes.
    mutating func cancelNow(_ id: BatchID, _ reason: String) {
        addTotal("photos.cancelled", state.batches[id]!.stateCodes.count { !isFinal($0) })
        state.batches[id]!.isCancelled = true
        state.deferred[id] = nil
        state.batches[id]!.reason = reason
        state.version += 1
        syncReadyQueue(id)
        finishIfOver(id)
    }

    mutating func cancelPhotos(_ id: BatchID, _ ranges: [ClosedRange<Int>]) -> CancelPhotosReply {
        guard var batch = state.batches[id], batch.state != nil else { return .gone }
        if batch.isCancelled { return .cancelledBefore }
        if batch.state == .finished { return .finished }
        if let last = ranges.map(\.upperBound).max(), last >= batch.stateCodes.count {
            return .notFed(photos: batch.stateCodes.count)
        }
        let photos = ranges.flatMap { $0 }
        let open = photos.filter { !isFinal(batch.stateCodes[$0]) }
        for index in open { batch.stateCodes[index] = UInt8(ascii: "C") }
        addTotal("photos.cancelled", open.count)
        // An executing operation ends with the next report of its holder. If the batch writes files, a queued operation
        // also does not end yet, because only a worker can write its manifest lines.
        let touched = Set(open.map { $0 / batch.size + 1 })
        for number in batch.queue.intersection(touched)
        where batch.stateCodes[batch.photos(of: number)].allSatisfy(isFinal) {
            if batch.output.isEmpty { batch.end(number) } else { batch.deferred[number] = nil }
        }
        state.batches[id] = batch
        if !open.isEmpty {
            state.version += 1
            syncReadyQueue(id)
            finishIfOver(id)
        }
        return .cancelled(open.count, wereFinal: photos.count - open.count)
    }

    mutating func suspend(_ id: BatchID?, _ part: QueuePart, _ isSuspended: Bool) -> ControlReply {
        guard let id else { return suspendCluster(part, isSuspended) }
        return changeControls(id) { batch in
            if isSuspended { batch.suspended.insert(part) } else { batch.suspended.remove(part) }
        }
    }

    private mutating func suspendCluster(_ part: QueuePart, _ isSuspended: Bool) -> ControlReply {
        let before = state.cluster
        switch part {
        case .everything: state.cluster.isSuspended = isSuspended
        case .downloads: state.cluster.areDownloadsSuspended = isSuspended
        case .filtrations: state.cluster.areFiltrationsSuspended = isSuspended
        }
        if state.cluster != before { state.version += 1 }
        return .done(isNew: state.cluster != before)
    }

    mutating func prioritize(_ id: BatchID, _ priority: BatchPriority) -> ControlReply {
        let before = state.batches[id]?.priority
        let reply = changeControls(id) { $0.priority = priority }
        if let before, before != state.batches[id]!.priority {
            removeFromReadyQueue(id, before)
            syncReadyQueue(id)
        }
        return reply
    }

    mutating func focus(_ id: BatchID, _ focus: BatchControls.Focus?) -> FocusReply {
        switch changeControls(id, { $0.focus = focus }) {
        case .done(let isNew): .done(isNew: isNew, photos: state.batches[id]!.stateCodes.count)
        case .finished: .finished
        case .cancelled: .cancelled
        case .gone: .gone
        }
    }

    mutating func clearFocus(_ id: BatchID, ifStill photos: ClosedRange<Int>) -> FocusReply {
        let focus = state.batches[id]?.focus
        let isStill = focus == BatchControls.Focus(photos)
        return self.focus(id, isStill ? nil : focus)
    }

    /// Sets both limits. Returns true if a limit changed.
    mutating func limit(_ downloads: Int?, _ filtrations: Int?) -> Bool {
        guard state.cluster.downloads != downloads || state.cluster.filtrations != filtrations else { return false }
        state.cluster.downloads = downloads
        state.cluster.filtrations = filtrations
        state.version += 1
        return true
    }

    /// Changes a batch that is neither finished nor cancelled.
    private mutating func changeControls(_ id: BatchID, _ change: (inout BatchContent) -> Void) -> ControlReply {
        guard let batch = state.batches[id], batch.state != nil else { return .gone }
        if batch.isCancelled { return .cancelled }
        if batch.state == .finished { return .finished }
        change(&state.batches[id]!)
        let isNew = batch.controls != state.batches[id]!.controls
        if isNew {
            state.version += 1
            syncReadyQueue(id)
        }
        return .done(isNew: isNew)
    }
}

extension BatchContent {
    /// Ends an operation whose state codes are all final. If a photo failed, the entry of the operation stays for a
    /// retry.
    mutating func end(_ number: Int) {
        queue.remove(number)
        executing[number] = nil
        deferred[number] = nil
        leaseExpiries[number] = nil
        retries[number] = nil
        if isCancelled || !stateCodes[photos(of: number)].contains(where: { FailureReason.isStateCode($0) }) {
            entries[number] = nil
        }
    }
}
