import DarkroomModel

@testable import DarkroomStore
@testable import StoreInspection

/// Retries, growth and webhooks of finished batches.
extension StoreModel {
    /// The batches of the model test are so small that one call reads all operations.
    mutating func retry(
        _ id: BatchID, _ operations: ClosedRange<Int>, _ reasons: [FailureReason], _ overwrite: Bool
    ) -> RetryReply {
        guard var batch = state.batches[id], batch.state != nil else { return .gone }
        if batch.isCancelled { return .cancelled }
        if state.releases[id] != nil { return .busy }
        if let holder = retake(id, overwrite) { return .outputTaken(by: holder) }
        batch = state.batches[id]!
        let stateCodes = reasons.flatMap(\.stateCodes)
        var (retried, notKept) = (0, 0)
        for number in operations where number <= batch.operations && batch.hasEnded(number) {
            let wanted = batch.photos(of: number).filter {
                FailureReason.isStateCode(batch.stateCodes[$0])
                    && (stateCodes.isEmpty || stateCodes.contains(batch.stateCodes[$0]))
            }
            if wanted.isEmpty { continue }
            guard batch.entries[number] != nil else {
                notKept += wanted.count
                continue
            }
            retried += wanted.count
            for index in wanted {
                batch.stateCodes[index] = UInt8(ascii: "N")
                batch.failures[index] = nil
            }
            batch.queue.insert(number)
        }
        if retried > 0 {
            state.batches[id] = batch
            if batch.state == .finished { reopen(id) }
            syncReadyQueue(id)
        }
        return .retried(photos: retried, notKept: notKept, next: nil)
    }

    /// Takes the output folder of a batch again. If another batch has taken the folder and `insists` is false, only
    /// returns the other batch.
    private mutating func retake(_ id: BatchID, _ insists: Bool) -> BatchID? {
        let batch = state.batches[id]!
        guard !batch.output.isEmpty else { return nil }
        let holder = state.outputs[batch.output]
        if let holder, holder != id, !insists { return holder }
        if holder != id || insists {
            take(batch.output, id)
            state.batches[id]!.settings["output.taken"] = "\(state.taken)"
        }
        return nil
    }

    /// Assigns an output folder to a batch.
    mutating func take(_ output: String, _ id: BatchID) {
        state.outputs[output] = id
        state.taken = max(now, state.taken + 1)
    }

    /// Starts a new round of a finished batch.
    private mutating func reopen(_ id: BatchID) {
        let batch = state.batches[id]!
        if let started = batch.started, let finished = batch.finished {
            state.batches[id]!.spent += max(0, finished - started)
        }
        state.batches[id]!.state = .ready
        state.batches[id]!.round += 1
        state.batches[id]!.started = nil
        state.batches[id]!.finished = nil
        state.expiring[id] = nil
        state.open[id] = batch.submitted
        if let name = batch.settings["name"], !name.isEmpty, state.names[name] == nil { state.names[name] = id }
    }

    mutating func grow(_ id: BatchID, _ operations: Int, _ photos: Int, _ digest: String, _ last: Int?) -> Answer {
        guard var batch = state.batches[id], batch.state != nil else { return .grow(.gone) }
        if batch.isCancelled { return .grow(.cancelled) }
        guard batch.operations == operations, batch.stateCodes.count == photos, batch.digest == digest else {
            return .grow(.differs)
        }
        if state.releases[id] != nil { return .grow(.busy) }
        let first = (operations - 1) * batch.size
        if let last {
            guard last <= batch.size, first + last > photos else { return .rejected }
            if batch.executing[operations] != nil { return .grow(.busy) }
        }
        if let holder = retake(id, false) { return .grow(.outputTaken(by: holder)) }
        batch = state.batches[id]!
        if let last {
            batch.queue.insert(operations)
            batch.deferred[operations] = nil
            batch.entries[operations] = Message.entry(id, operations, last)
            batch.stateCodes += Array(repeating: UInt8(ascii: "N"), count: first + last - photos)
            batch.digest = Message.digest(id, operations, grownTo: last)
        }
        batch.sealed = false
        batch.feederSeen = now
        state.batches[id] = batch
        if batch.state == .finished { reopen(id) }
        syncReadyQueue(id)
        return .grow(.grown)
    }

    mutating func restoreEntry(_ id: BatchID, _ number: Int, _ photos: Int) -> RestoreEntryReply {
        guard let batch = state.batches[id], batch.state != nil else { return .gone }
        guard 1...max(1, batch.operations) ~= number, number <= batch.operations, batch.hasEnded(number),
            batch.entries[number] == nil, !batch.isCancelled,
            batch.stateCodes[batch.photos(of: number)].contains(where: { FailureReason.isStateCode($0) })
        else { return .notNeeded }
        state.batches[id]!.entries[number] = Message.entry(id, number, photos)
        return .restored
    }

    mutating func takeWebhook(_ due: DueWebhook, _ duration: Duration) -> TakeWebhookReply {
        guard state.webhooks[due.member] == due.score else { return .moved }
        let score = now + duration.wholeMilliseconds
        state.webhooks[due.member] = score
        let attempts = state.batches[due.batch]!.attempts! + 1
        state.batches[due.batch]!.attempts = attempts
        return .taken(attempts: attempts, score: score)
    }

    mutating func endWebhookAttempt(_ member: String, _ score: Int, _ delay: Duration?) -> Bool {
        guard state.webhooks[member] == score else { return false }
        state.webhooks[member] = delay.map { now + $0.wholeMilliseconds }
        let id = DueWebhook(member: member, score: score, url: "")!.batch
        if delay == nil, state.batches[id]?.state == .finished { expire(id) }
        return true
    }
}
