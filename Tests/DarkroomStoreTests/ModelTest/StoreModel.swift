import DarkroomModel

@testable import DarkroomStore
@testable import StoreInspection

/// A simple model of the scripts: it computes the next state and the reply from a state and a message. It does not
/// predict counters and reasons; the invariants compare counters and reasons with the state codes.
struct StoreModel {
    var state = StoreState()
    /// The Redis clock in the current step.
    var now = 0

    /// Returns the reply to `message` at the time `now`.
    mutating func answer(_ message: Message) -> Answer {
        switch message {
        case .submit(let id, let options, let overwrite, let after):
            return .submit(submit(id, options, overwrite, after))
        case .feed(let id, let number, let photos): return feed(id, number, photos)
        case .seal(let id, let operations, let photos): return .seal(seal(id, operations, photos))
        case .claim(let claim): return .claim(self.claim(claim))
        case .heartbeat(let worker, let facts, let held): return .heartbeat(heartbeat(worker, facts, held))
        case .report(let report): return self.report(report)
        case .release(let held, let worker, _, let delay, let attempts):
            let retries = attempts == 0 ? "" : "0:\(attempts):0:0:0:0:0"
            return .release(release(held, worker, delay, retries))
        case .forget(let id, let unfinished): return .forget(forget(id, unfinished))
        case .expireLeases:
            state.leases = state.leases.mapValues { _ in -1 }
            return .done
        case .leave(let worker):
            state.workers[worker] = nil
            state.workerHashes[worker] = nil
            state.refusals[worker] = nil
            return .done
        case .cancel(let id, let reason): return .cancel(cancel(id, reason))
        case .cancelPhotos(let id, let ranges): return .cancelPhotos(cancelPhotos(id, ranges))
        case .suspend(let id, let part, let isSuspended): return .control(suspend(id, part, isSuspended))
        case .prioritize(let id, let priority): return .control(prioritize(id, priority))
        case .focus(let id, let focus): return .focus(self.focus(id, focus))
        case .clearFocus(let id, let photos): return .focus(clearFocus(id, ifStill: photos))
        case .limit(let downloads, let filtrations):
            return .limited(limit(downloads ?? state.cluster.downloads, filtrations ?? state.cluster.filtrations))
        case .clearLimits: return .limited(limit(nil, nil))
        case .addDependency(let id, let other, let version): return .addDependency(addDependency(id, other, version))
        case .removeDependency(let id, let other): return .removeDependency(removeDependency(id, other))
        case .retry(let id, let operations, let reasons, let overwrite):
            return .retry(retry(id, operations, reasons, overwrite))
        case .grow(let id, let operations, let photos, let digest, let last):
            return grow(id, operations, photos, digest, last)
        case .restoreEntry(let id, let number, let photos): return .restoreEntry(restoreEntry(id, number, photos))
        // A step changes nothing unless a batch is damaged.
        case .repair: return .repair(0)
        case .takeWebhook(let due, let duration): return .takeWebhook(takeWebhook(due, duration))
        case .endWebhookAttempt(let member, let score, let delay):
            return .webhookAttempt(endWebhookAttempt(member, score, delay))
        }
    }

    // MARK: Coordinators

    private mutating func submit(
        _ id: BatchID, _ options: BatchOptions, _ overwrite: Bool, _ after: [BatchID]
    ) -> SubmitReply {
        guard state.batches[id] == nil else { return .exists }
        guard state.forgotten[id] == nil else { return .forgotten }
        if let gone = after.first(where: { state.batches[$0]?.state == nil }) { return .gone(gone) }
        if let other = state.names[options.name], let batch = state.batches[other], batch.state != nil,
            batch.state != .finished, !batch.isCancelled
        {
            return .nameTaken(by: other)
        }
        if !options.output.isEmpty {
            if let other = state.outputs[options.output], !overwrite { return .outputTaken(by: other) }
            take(options.output, id)
        }
        if !options.name.isEmpty { state.names[options.name] = id }
        var batch = BatchContent()
        let modelled = [
            "size", "window", "lease", "retain", "priority", "output", "after.success", "originals", "webhook",
        ]
        for (field, value) in options.fields where !modelled.contains(field) { batch.settings[field] = value }
        batch.size = options.operationSize
        batch.window = options.window
        batch.lease = options.lease.wholeMilliseconds
        batch.retain = options.retain?.wholeMilliseconds ?? -1
        batch.priority = options.priority
        batch.output = options.output
        batch.afterSuccess = options.afterSuccess
        batch.originals = options.originals
        batch.webhook = options.webhook
        batch.state = .ready
        batch.submitted = now
        batch.feederSeen = now
        if !options.output.isEmpty { batch.settings["output.taken"] = "\(state.taken)" }
        state.batches[id] = batch
        state.submissions[id] = now
        state.open[id] = now
        let waits = after.filter { state.batches[$0]!.state != .finished }
        for other in waits { wait(id, for: other) }
        if !waits.isEmpty { state.dependencies += 1 }
        let hopeless = after.last { state.batches[$0]!.state == .finished && !state.batches[$0]!.succeeded }
        if let hopeless, options.afterSuccess { cancelNow(id, "\(hopeless) did not succeed") }
        return .submitted(at: now)
    }

    private mutating func feed(_ id: BatchID, _ number: Int, _ photos: Int) -> Answer {
        guard var batch = state.batches[id], batch.state != nil else { return .feed(.gone) }
        if batch.isCancelled { return .feed(.cancelled) }
        if batch.sealed { return .feed(.sealed) }
        if number != batch.operations + 1 { return .feed(.expects(batch.operations + 1)) }
        if batch.stateCodes.count != batch.operations * batch.size { return .feed(.short) }
        guard 1...batch.size ~= photos else { return .rejected }
        let passed = max(0, min(now - batch.feederSeen, 60_000))
        batch.feederSeen = now
        let isFull = batch.queue.count + batch.executing.count >= batch.window
        if !isFull {
            if batch.operations > 0, batch.queue.isEmpty {
                let earlier = batch.settings["starved"].flatMap { Int($0) } ?? 0
                batch.settings["starved"] = String(earlier + passed)
            }
            batch.operations = number
            batch.stateCodes += Array(repeating: UInt8(ascii: "N"), count: photos)
            batch.entries[number] = Message.entry(id, number, photos)
            batch.digest = Message.digest(id, number)
            batch.queue.insert(number)
        }
        state.batches[id] = batch
        syncReadyQueue(id)
        return .feed(isFull ? .full : .fed)
    }

    private mutating func seal(_ id: BatchID, _ operations: Int, _ photos: Int) -> SealReply {
        guard let batch = state.batches[id], batch.state != nil else { return .gone }
        if batch.isCancelled { return .cancelled }
        guard batch.operations == operations, batch.stateCodes.count == photos else {
            return .differs(operations: batch.operations, photos: batch.stateCodes.count)
        }
        state.batches[id]!.sealed = true
        if !batch.sealed { finishIfOver(id) }
        return .sealed
    }

    private mutating func forget(_ id: BatchID, _ unfinished: Bool) -> ForgetReply {
        guard let batch = state.batches[id] else { return .gone }
        if let state = batch.state, state != .finished, !unfinished { return .unfinished(state) }
        forgetStep(id)
        return state.batches[id] == nil ? .forgotten : .more
    }
}
