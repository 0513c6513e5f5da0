import DarkroomModel

@testable import DarkroomStore
@testable import StoreInspection

/// Reports and releases, and the steps that several messages share.
extension StoreModel {
    mutating func report(_ report: Message.Report) -> Answer {
        let id = report.held.batch
        let number = report.held.number
        guard var batch = state.batches[id], batch.state != nil else { return .report(.gone) }
        guard number <= batch.operations else { return .report(.lost) }
        let photos = batch.photos(of: number)
        let isMine = holds(report.worker, report.held.fencingToken, OperationID(batch: id, number: number))
        if !isMine, batch.executing[number] != nil { return .report(.lost) }
        if batch.isCancelled { return .report(.cancelled(stateCodes: batch.read(batch.stateCodes[photos]))) }
        guard isMine else {
            return .report(batch.hasEnded(number) ? .ended(stateCodes: Array(batch.stateCodes[photos])) : .lost)
        }
        guard report.stateCodes.count == photos.count else { return .rejected }
        let before = batch.stateCodes
        let reported = report.stateCodes.map { $0 == UInt8(ascii: "G") ? UInt8(ascii: "F") : $0 }
        var differs = false
        var progress = false
        let withoutGainMap = zip(photos, report.stateCodes).count { index, stateCode in
            stateCode == UInt8(ascii: "G") && !isFinal(before[index])
        }
        if withoutGainMap > 0 {
            let earlier = batch.settings["lost.gain.maps"].flatMap { Int($0) } ?? 0
            batch.settings["lost.gain.maps"] = String(earlier + withoutGainMap)
        }
        for (index, stateCode) in zip(photos, reported) where stateCode != UInt8(ascii: ".") {
            if isFinal(batch.stateCodes[index]) {
                differs = differs || batch.stateCodes[index] != stateCode
            } else {
                batch.stateCodes[index] = stateCode
                addTotal(ofPhotosIn: stateCode)
                progress = progress || isFinal(stateCode)
                if FailureReason.isStateCode(stateCode), report.failures.contains(index) {
                    batch.failures[index] = Message.failure(index)
                }
            }
        }
        var holder = batch.executing[number]!
        let (bytesIn, bytesOut) = (max(0, report.bytesIn - holder.bytesIn), max(0, report.bytesOut - holder.bytesOut))
        batch.bytesIn += bytesIn
        batch.bytesOut += bytesOut
        addTotal("bytes.in", bytesIn)
        addTotal("bytes.out", bytesOut)
        holder.bytesIn = max(holder.bytesIn, report.bytesIn)
        holder.bytesOut = max(holder.bytesOut, report.bytesOut)
        holder.begun = report.stateCodes.allSatisfy { $0 == UInt8(ascii: ".") }
        batch.executing[number] = holder
        if progress, let leaseExpiries = batch.leaseExpiries[number] {
            batch.leaseExpiries[number] = min(leaseExpiries, 2)
        }
        let stateCodes = Array(batch.stateCodes[photos])
        state.batches[id] = batch
        // If the worker did not know yet that a user had cancelled single photos, it has not written their manifest
        // lines.
        let unknown = zip(photos, reported).contains { index, stateCode in
            (stateCode == UInt8(ascii: ".") || !isFinal(stateCode)) && before[index] == UInt8(ascii: "C")
        }
        let lacksLines = unknown && !batch.output.isEmpty && stateCodes.allSatisfy(isFinal)
        if lacksLines { differs = true }
        let ended = !lacksLines && endIfOver(OperationID(batch: id, number: number))
        return .report(.accepted(ended: ended, stateCodes: differs ? stateCodes : nil, version: state.version))
    }

    mutating func release(
        _ held: HeldOperation, _ worker: String, _ delay: Int, _ retries: String
    ) -> ReleaseReply {
        guard let batch = state.batches[held.batch], batch.state != nil else { return .gone }
        guard held.number <= batch.operations else { return .lost }
        let operation = OperationID(batch: held.batch, number: held.number)
        let isMine = holds(worker, held.fencingToken, operation)
        if !isMine, batch.executing[held.number] != nil { return .lost }
        let photos = batch.photos(of: held.number)
        if isMine { tick() }
        if batch.isCancelled {
            if isMine { requeue(operation, leaseExpired: false) }
            return .cancelled(stateCodes: batch.read(batch.stateCodes[photos]))
        }
        if isMine { requeue(operation, leaseExpired: false, delay: delay, retries: retries) }
        guard state.batches[held.batch]!.hasEnded(held.number) else { return isMine ? .queued : .lost }
        return .ended(stateCodes: Array(state.batches[held.batch]!.stateCodes[photos]))
    }

    // MARK: Shared steps

    /// Adds to a total.
    mutating func addTotal(_ field: String, _ number: Int) {
        if number > 0 { state.totals[field, default: 0] += number }
    }

    private mutating func addTotal(ofPhotosIn stateCode: UInt8) {
        switch stateCode {
        case UInt8(ascii: "N"), UInt8(ascii: "D"): break
        case UInt8(ascii: "F"): addTotal("photos.filtered", 1)
        case UInt8(ascii: "C"): addTotal("photos.cancelled", 1)
        default: addTotal("photos.failed", 1)
        }
    }

    func isFinal(_ stateCode: UInt8) -> Bool { stateCode != UInt8(ascii: "N") && stateCode != UInt8(ascii: "D") }

    func holds(_ worker: String, _ fencingToken: Int, _ operation: OperationID) -> Bool {
        guard let batch = state.batches[operation.batch], batch.state != nil else { return false }
        return batch.executing[operation.number].map { $0.worker == worker && $0.fencingToken == fencingToken } ?? false
    }

    /// Takes an operation from its holder and queues it again, unless all its photos are final.
    mutating func requeue(_ operation: OperationID, leaseExpired: Bool, delay: Int = 0, retries: String = "") {
        let id = operation.batch
        if state.batches[id]!.isCancelled {
            if leaseExpired, !state.batches[id]!.output.isEmpty {
                let fencingToken = state.batches[id]!.executing[operation.number]!.fencingToken
                state.staleFiles["\(id) \(operation.number) \(fencingToken) 1"] = now
            }
            state.batches[id]!.end(operation.number)
            state.leases[operation] = nil
            return finishIfOver(id)
        }
        if state.batches[id]!.originals.isEmpty {
            for index in state.batches[id]!.photos(of: operation.number)
            where state.batches[id]!.stateCodes[index] == UInt8(ascii: "D") {
                state.batches[id]!.stateCodes[index] = UInt8(ascii: "N")
            }
        }
        if endIfOver(operation, mayLackLines: true) { return }
        let batch = state.batches[id]!
        if leaseExpired, batch.leaseExpiries[operation.number] ?? 0 < 2 || batch.executing[operation.number]!.begun {
            state.batches[id]!.leaseExpiries[operation.number, default: 0] += 1
        }
        state.batches[id]!.executing[operation.number] = nil
        state.leases[operation] = nil
        state.batches[id]!.queue.insert(operation.number)
        let clock = state.retentionClock
        state.batches[id]!.retries[operation.number] = retries.isEmpty ? nil : "\(clock) \(retries)"
        if delay > 0 {
            state.batches[id]!.deferred[operation.number] = clock + delay
            state.deferred[id] = min(clock + delay, state.deferred[id] ?? .max)
        }
        syncReadyQueue(id)
    }

    /// Ends an executing operation if its state codes are all final.
    /// - Parameter mayLackLines: Whether lines of cancelled photos may be missing in the manifest.
    mutating func endIfOver(_ operation: OperationID, mayLackLines: Bool = false) -> Bool {
        let batch = state.batches[operation.batch]!
        let stateCodes = batch.stateCodes[batch.photos(of: operation.number)]
        guard stateCodes.allSatisfy(isFinal) else { return false }
        if mayLackLines, !batch.output.isEmpty, stateCodes.contains(UInt8(ascii: "C")) { return false }
        state.batches[operation.batch]!.end(operation.number)
        state.leases[operation] = nil
        finishIfOver(operation.batch)
        return true
    }

    /// Finishes a batch if no operation executes and the batch is cancelled or complete. A batch is complete if it is
    /// sealed, has no queued operations, and does not wait for other batches.
    mutating func finishIfOver(_ id: BatchID) {
        let batch = state.batches[id]!
        guard batch.state != .finished, batch.executing.isEmpty else { return }
        guard batch.isCancelled || batch.sealed && batch.state != .waiting && batch.queue.isEmpty else { return }
        state.batches[id]!.state = .finished
        state.open[id] = nil
        state.batches[id]!.finished = now
        state.batches[id]!.focus = nil
        if let passed = batch.pace.map({ now - $0.time }), 1...10_000 ~= passed {
            state.batches[id]!.settings["worked"] = String((batch.worked ?? 0) + passed)
        }
        state.batches[id]!.settings["pace"] = nil
        if batch.isCancelled {
            state.batches[id]!.queue = []
            state.batches[id]!.entries = [:]
            state.batches[id]!.leaseExpiries = [:]
            state.batches[id]!.deferred = [:]
            state.batches[id]!.retries = [:]
        }
        state.batches[id]!.settings["retention.start"] = String(state.retentionClock)
        if !batch.dependents.order.isEmpty { state.releases[id] = now }
        if !batch.webhook.isEmpty {
            state.batches[id]!.attempts = 0
            state.webhooks["\(id) \(batch.round)"] = now
        }
        expire(id)
    }

    /// Lets a finished batch expire after its retention time, but at the earliest after 30 s, or after one day if a
    /// webhook is pending.
    mutating func expire(_ id: BatchID) {
        guard let batch = state.batches[id], let finished = batch.finished, batch.retain >= 0 else { return }
        let hasWebhook = state.webhooks.keys.contains { $0.hasPrefix("\(id) ") }
        let stays = max(batch.retain, hasWebhook ? 86_400_000 : 30_000)
        state.expiring[id] = finished + stays
        state.batches[id]!.settings["expires"] = String(
            (batch.settings["retention.start"].flatMap { Int($0) } ?? 0) + stays)
    }

    /// Adds a batch to the ready queue of its priority if it has claimable operations, and removes it otherwise. A
    /// batch that is already in the queue keeps its turn.
    mutating func syncReadyQueue(_ id: BatchID) {
        let batch = state.batches[id]!
        if batch.claimable.isEmpty { return removeFromReadyQueue(id, batch.priority) }
        guard state.readyQueues[batch.priority]?.turns[id] == nil else { return }
        state.turn += 1
        state.readyQueues[batch.priority, default: ReadyQueue()].turns[id] = state.turn
    }

    mutating func removeFromReadyQueue(_ id: BatchID, _ priority: BatchPriority) {
        state.readyQueues[priority]?.turns[id] = nil
        if state.readyQueues[priority]?.turns.isEmpty == true { state.readyQueues[priority] = nil }
    }
}
