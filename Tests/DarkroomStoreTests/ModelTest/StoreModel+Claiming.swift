import DarkroomModel

@testable import DarkroomStore
@testable import StoreInspection

/// Claims and heartbeats, and the maintenance that both perform.
extension StoreModel {
    mutating func claim(_ claim: Message.Claim) -> ClaimReply {
        let last = state.workerHashes[claim.worker]
        if let number = last?.claim, claim.number < number { return .old }
        tick()
        refuse(claim)
        let lost = renew(claim.worker, claim.held)
        _ = performMaintenance(claim.worker)
        var claimed: [OperationID] = []
        var next = ""
        let fencingToken: Int
        if let last, last.claim == claim.number, let same = last.fencingToken {
            fencingToken = same
            claimed = last.claimed.filter { holds(claim.worker, same, $0) }
        } else {
            fencingToken = max(state.claims + 1, now)
            state.claims = fencingToken
            let isSuspended = state.cluster.isSuspended || state.cluster.areDownloadsSuspended
            if !isSuspended { (claimed, next) = claimOperations(claim, fencingToken) }
            state.workerHashes[claim.worker, default: .init()].claim = claim.number
            state.workerHashes[claim.worker]!.fencingToken = fencingToken
            state.workerHashes[claim.worker]!.claimed = claimed
        }
        let operations = claimed.map { operation in
            let batch = state.batches[operation.batch]!
            return ClaimedOperation(
                held: HeldOperation(batch: operation.batch, number: operation.number, fencingToken: fencingToken),
                stateCodes: batch.read(batch.stateCodes[batch.photos(of: operation.number)]),
                leaseExpiries: batch.leaseExpiries[operation.number] ?? 0,
                entry: Array((batch.entries[operation.number] ?? "").utf8),
                retries: retries(of: batch.retries[operation.number]))
        }
        return .claimed(
            Claimed(
                operations: operations, lost: lost, next: next, version: state.version, cluster: state.cluster,
                turn: state.turn, refusals: state.refusals[claim.worker]?.count ?? 0,
                again: again(claim, claimed, next), controls: controls(of: claimed.map(\.batch))))
    }

    /// When a worker without operations claims again, because other workers hold several operations.
    private func again(_ claim: Message.Claim, _ claimed: [OperationID], _ next: String) -> Duration? {
        guard claim.held.isEmpty, claimed.isEmpty, !state.cluster.isSuspended, !state.cluster.areDownloadsSuspended,
            claim.focus == nil, next.isEmpty, (state.refusals[claim.worker] ?? []).isEmpty, claim.without.isEmpty
        else { return nil }
        let running = runningWorkers
        return running > 1 && state.leases.count > 1 ? .milliseconds(500 + 10 * running) : nil
    }

    /// Replaces the retention clock time of the release by the time since then.
    private func retries(of stored: String?) -> String {
        guard let words = stored?.split(separator: " ", maxSplits: 1), let since = Int(words[0]) else { return "" }
        return "\(max(0, state.retentionClock - since)) \(words[1])"
    }

    private mutating func refuse(_ claim: Message.Claim) {
        var refused = claim.refusals.replacesAll ? [] : state.refusals[claim.worker] ?? []
        refused.formUnion(claim.refusals.added)
        refused.subtract(claim.refusals.removed)
        state.refusals[claim.worker] = refused.isEmpty ? nil : refused
    }

    /// Claims from the highest priority to the lowest. Within a priority, each batch in turn gets its share of the
    /// remaining photos. Skips refused batches after reading their entries in the ready queue.
    private mutating func claimOperations(_ claim: Message.Claim, _ fencingToken: Int) -> (
        claimed: [OperationID], next: String
    ) {
        var claimed: [OperationID] = []
        var photosLeft = claim.photos
        var (read, looked) = (0, 0)
        let start = claim.next.split(separator: ":").compactMap { Int($0) }
        let refused = (state.refusals[claim.worker] ?? []).union(claim.without)
        for priority in BatchPriority.allCases.reversed() where priority >= claim.lowest {
            if let rank = start.first, priority.rank > rank { continue }
            var after = start.first == priority.rank ? start[1] : Int.min
            while true {
                // Batches that were claimed from an earlier page have new turns, and appear again at the end.
                let readyQueue = state.readyQueues[priority] ?? ReadyQueue()
                var page = readyQueue.inTurn.map { (id: $0, turn: readyQueue.turns[$0]!) }.filter { $0.turn > after }
                if let focus = claim.focus { page = readyQueue.turns[focus].map { [(focus, $0)] } ?? [] }
                page = Array(page.prefix(100))
                read += page.count
                let open = page.filter { !refused.contains($0.id) }
                for (position, (id, turn)) in open.enumerated() {
                    looked += 1
                    var share = photosLeft / (open.count - position) / state.batches[id]!.size
                    if claimed.isEmpty || photosLeft >= state.batches[id]!.size { share = max(share, 1) }
                    let numbers = claimOperations(id, min(share, claim.operations - claimed.count), claim, fencingToken)
                    claimed += numbers.map { OperationID(batch: id, number: $0) }
                    photosLeft -= numbers.count * state.batches[id]!.size
                    if claimed.count == claim.operations || photosLeft <= 0 { return (claimed, "") }
                    if looked == 100 { return (claimed, "\(priority.rank):\(turn)") }
                }
                guard page.count == 100 else { break }
                after = page[99].turn
                if read >= 1000 { return (claimed, "\(priority.rank):\(after)") }
            }
        }
        return (claimed, "")
    }

    /// Claims the first `count` operations of a batch, those in focus first, and gives the batch a new turn.
    private mutating func claimOperations(_ id: BatchID, _ count: Int, _ claim: Message.Claim, _ fencingToken: Int)
        -> [Int]
    {
        let batch = state.batches[id]!
        let wanted = batch.claimable.filter { claim.focus == nil || batch.focused?.contains($0) ?? false }
        let numbers = Array(wanted.prefix(max(0, count)))
        guard !numbers.isEmpty else { return [] }
        for number in numbers {
            state.batches[id]!.queue.remove(number)
            state.batches[id]!.executing[number] = Holder(worker: claim.worker, fencingToken: fencingToken)
            state.leases[OperationID(batch: id, number: number)] = state.leaseClock + batch.lease
        }
        if batch.state == .ready {
            state.batches[id]!.state = .executing
            state.batches[id]!.started = now
            state.batches[id]!.settings["pace"] = "\(now) \(batch.done)"
        }
        removeFromReadyQueue(id, batch.priority)
        syncReadyQueue(id)
        return numbers
    }

    mutating func heartbeat(_ worker: String?, _ facts: [String], _ held: [HeldOperation]) -> HeartbeatReply {
        tick()
        if let worker {
            for (field, value) in Message.pairs(facts) {
                state.workerHashes[worker, default: .init()].facts[field] = value
            }
        }
        let lost = renew(worker ?? "", held)
        let hasMore = performMaintenance(worker)
        sampleHistory()
        let running = worker.flatMap { state.workerHashes[$0]?.facts["running"] } ?? ""
        for id in Set(held.map(\.batch)) { samplePace(id, isRunning: " \(running)".contains(" \(id):")) }
        let due = state.webhooks.filter { $0.value <= now }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.prefix(
            10)
        let staleFiles = worker == nil ? nil : takeStaleFiles()
        let isQuiet =
            state.leases.isEmpty && state.deferred.isEmpty && state.webhooks.isEmpty && state.releases.isEmpty
        let maintainers = isQuiet ? runningWorkers : state.workers.values.count { $0 >= now - 3000 }
        return HeartbeatReply(
            lost: lost, version: state.version, cluster: state.cluster, controls: controls(of: held.map(\.batch)),
            stateCodes: Message.sorted(stateCodes(held.filter { !lost.contains($0) })),
            webhooks: due.map { member, score in
                let batch = DueWebhook(member: member, score: score, url: "")!.batch
                return DueWebhook(member: member, score: score, url: state.batches[batch]!.webhook)!
            }, hasMore: hasMore, turn: state.turn, staleFiles: staleFiles, workers: maintainers)
    }

    /// Adds a period of work to the recent progress of an executing batch.
    private mutating func samplePace(_ id: BatchID, isRunning: Bool) {
        guard let batch = state.batches[id], batch.state == .executing, let before = batch.pace else { return }
        let (passed, photos) = (now - before.time, batch.done - before.done)
        guard isRunning || photos != 0, passed >= 2500 || passed < 0 || photos < 0 else { return }
        var periods = before.periods
        if 0...10_000 ~= passed, photos >= 0 {
            periods.insert((passed, photos), at: 0)
            state.batches[id]!.settings["worked"] = String((batch.worked ?? 0) + passed)
        }
        var total = 0
        let kept = periods.prefix { period in
            total += period.milliseconds
            return total <= 60_000
        }
        let numbers = [now, batch.done] + kept.flatMap { [$0.milliseconds, $0.photos] }
        state.batches[id]!.settings["pace"] = numbers.map(String.init).joined(separator: " ")
    }

    /// Adds a sample to the history of the last hour if the last sample is at least 10 s old.
    private mutating func sampleHistory() {
        if let sampled = state.sampled, abs(now - sampled) < 10_000 { return }
        state.sampled = now
        state.history = state.history.filter { now - 3_600_000 < $0.key && $0.key <= now }
        let queued = state.readyQueues.values.flatMap(\.turns.keys).reduce(0) { sum, id in
            sum + state.batches[id]!.queue.count * state.batches[id]!.size
        }
        let totals = ["photos.filtered", "photos.failed", "photos.cancelled", "bytes.in", "bytes.out"]
        let numbers = [now] + totals.map { state.totals[$0] ?? 0 } + [queued]
        state.history[now] = numbers.map(String.init).joined(separator: " ")
    }

    /// An operation of a lost worker; the calling worker must remove the temporary files of this operation. Nine
    /// heartbeat replies, at least a minute apart, contain each such operation.
    private mutating func takeStaleFiles() -> HeldOperation? {
        let due = state.staleFiles.filter { $0.value <= now }.min { ($0.value, $0.key) < ($1.value, $1.key) }
        guard let due else { return nil }
        state.staleFiles[due.key] = nil
        let words = due.key.split(separator: " ")
        if words[3] != "9" {
            state.staleFiles["\(words[0]) \(words[1]) \(words[2]) \(Int(words[3])! + 1)"] = now + 60_000
        }
        return HeldOperation(batch: BatchID(String(words[0]))!, number: Int(words[1])!, fencingToken: Int(words[2])!)
    }

    /// The state codes of those held operations in which a user has cancelled single photos.
    private func stateCodes(_ held: [HeldOperation]) -> [HeartbeatReply.StateCodes] {
        held.compactMap { held in
            guard let batch = state.batches[held.batch], batch.state != nil,
                batch.stateCodes.contains(UInt8(ascii: "C"))
            else { return nil }
            let stateCodes = batch.read(batch.stateCodes[batch.photos(of: held.number)])
            return HeartbeatReply.StateCodes(batch: held.batch, number: held.number, stateCodes: stateCodes)
        }
    }

    private func controls(of ids: [BatchID]) -> [BatchID: BatchControls] {
        ids.reduce(into: [:]) { controls, id in
            if let batch = state.batches[id], batch.state != nil { controls[id] = batch.controls }
        }
    }

    /// The workers that have sent a heartbeat or a claim in the last 30 s.
    private var runningWorkers: Int { state.workers.values.count { $0 >= now - 30_000 } }

    /// Advances the lease clock and the retention clock.
    mutating func tick() {
        let passed = max(now - (state.seen ?? now), 0)
        state.leaseClock += min(passed, 3000)
        state.retentionClock += min(passed, 6 * 3_600_000)
        state.seen = now
    }

    private mutating func renew(_ worker: String, _ held: [HeldOperation]) -> [HeldOperation] {
        var lost: [HeldOperation] = []
        for held in held {
            let operation = OperationID(batch: held.batch, number: held.number)
            if holds(worker, held.fencingToken, operation) {
                state.leases[operation] = state.leaseClock + state.batches[held.batch]!.lease
            } else {
                lost.append(held)
            }
        }
        return lost.sorted()
    }

    /// The maintenance of every claim and heartbeat. Returns true if more steps remain.
    private mutating func performMaintenance(_ worker: String?) -> Bool {
        if let worker { state.workers[worker] = now }
        let early = state.workers.filter { $0.value > now }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        for (worker, _) in early.prefix(100) { state.workers[worker] = now }
        let silent = state.workers.filter { $0.value <= now - 3_600_000 }
        for (worker, _) in silent.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }).prefix(10) {
            state.workers[worker] = nil
            state.workerHashes[worker] = nil
            state.refusals[worker] = nil
        }
        let expired = state.leases.filter { $0.value < state.leaseClock }
        for (operation, _) in expired.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }).prefix(50) {
            state.leases[operation] = nil
            guard state.batches[operation.batch]?.state != nil else { continue }
            requeue(operation, leaseExpired: true)
            addTotal("leases.expired", 1)
        }
        let hasMoreDeferred = resumeDeferred()
        releaseStep()
        let due = state.expiring.filter { $0.value <= now }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
        for due in due.prefix(10) {
            let expires = state.batches[due.key]?.settings["expires"].flatMap { Int($0) } ?? 0
            if expires > state.retentionClock {
                state.expiring[due.key] = now + expires - state.retentionClock
            } else {
                forgetStep(due.key)
            }
        }
        return expired.count >= 50 || hasMoreDeferred || due.count > 10 || !state.releases.isEmpty
    }

    /// Lets the deferred operations that are due be claimed, also those that are due more than an hour after now. Returns
    /// true if more may be.
    private mutating func resumeDeferred() -> Bool {
        var hasMore = false
        let (clock, latest) = (state.retentionClock, state.retentionClock + 3_600_000)
        for isDue in [{ $0 <= clock }, { $0 > latest }] as [(Int) -> Bool] {
            let batches = state.deferred.filter { isDue($0.value) }
            let due = batches.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.prefix(10).map(\.key)
            hasMore = hasMore || due.count == 10
            for id in due {
                state.deferred[id] = nil
                guard let batch = state.batches[id], batch.state != nil, !batch.isCancelled else { continue }
                for (number, time) in batch.deferred where isDue(time) { state.batches[id]!.deferred[number] = nil }
                syncReadyQueue(id)
                state.deferred[id] = state.batches[id]!.deferred.values.min()
            }
        }
        return hasMore
    }

    /// One step of forgetting. In the model test one step forgets a batch, because batches execute fewer than 100
    /// operations.
    mutating func forgetStep(_ id: BatchID) {
        guard let batch = state.batches[id] else { return state.expiring[id] = nil }
        release(id)
        for other in batch.dependencies { state.batches[other]?.dependents.order.removeAll { $0 == id } }
        removeFromReadyQueue(id, batch.priority)
        for number in batch.executing.keys { state.leases[OperationID(batch: id, number: number)] = nil }
        if state.outputs[batch.output] == id { state.outputs[batch.output] = nil }
        if let name = batch.settings["name"], state.names[name] == id { state.names[name] = nil }
        state.webhooks = state.webhooks.filter { !$0.key.hasPrefix("\(id) ") }
        state.releases[id] = nil
        state.deferred[id] = nil
        state.submissions[id] = nil
        state.open[id] = nil
        state.expiring[id] = nil
        state.forgotten[id] = now
        state.batches[id] = nil
    }
}
