import DarkroomModel

@testable import DarkroomStore

/// The scripts once more, as plainly as they can be said: from the state before and a message, the state after and the
/// answer. Counters and reasons are not foretold: the invariants count the letters.
struct StoreModel {
    var state = StoreState()
    /// The Redis clock in the step at hand.
    var now = 0

    /// Answers `message` at the time `now`.
    mutating func answer(_ message: Message) -> Answer {
        switch message {
        case .submit(let id, let options, let overwrite): return .submit(submit(id, options, overwrite))
        case .feed(let id, let number, let photos): return feed(id, number, photos)
        case .seal(let id, let operations, let photos): return .seal(seal(id, operations, photos))
        case .claim(let claim): return .claim(self.claim(claim))
        case .heartbeat(let worker, let facts, let held):
            tick()
            if let worker { for fact in facts { state.workerHashes[worker, default: .init()].facts[fact] = fact } }
            let lost = renew(worker ?? "", held)
            keepHouse(worker)
            return .heartbeat(lost)
        case .report(let report): return self.report(report)
        case .handback(let held, let worker): return .handback(handback(held, worker))
        case .forget(let id, let unfinished): return .forget(forget(id, unfinished))
        case .expireLeases:
            state.leases = state.leases.mapValues { _ in -1 }
            return .done
        case .leave(let worker):
            state.workers[worker] = nil
            state.workerHashes[worker] = nil
            return .done
        }
    }

    // MARK: The coordinator's side

    private mutating func submit(_ id: BatchID, _ options: BatchOptions, _ overwrite: Bool) -> SubmitReply {
        guard state.batches[id] == nil else { return .exists }
        if !options.output.isEmpty {
            if let other = state.outputs[options.output], !overwrite { return .outputTaken(by: other) }
            state.outputs[options.output] = id
        }
        var batch = BatchContent()
        let modelled = ["size", "window", "lease", "retain", "priority", "output"]
        for (field, value) in options.fields where !modelled.contains(field) { batch.settings[field] = value }
        batch.settings["round"] = "1"
        batch.size = options.operationSize
        batch.window = options.window
        batch.lease = options.lease.wholeMilliseconds
        batch.retain = options.retain?.wholeMilliseconds ?? -1
        batch.priority = options.priority
        batch.output = options.output
        batch.state = .ready
        batch.submitted = now
        batch.feederSeen = now
        state.batches[id] = batch
        state.submissions[id] = now
        return .submitted(at: now)
    }

    private mutating func feed(_ id: BatchID, _ number: Int, _ photos: Int) -> Answer {
        guard var batch = state.batches[id], batch.state != nil else { return .feed(.gone) }
        if batch.sealed { return .feed(.sealed) }
        if number != batch.operations + 1 { return .feed(.expects(batch.operations + 1)) }
        if batch.letters.count != batch.operations * batch.size { return .feed(.short) }
        guard 1...batch.size ~= photos else { return .refused }
        batch.feederSeen = now
        defer { state.batches[id] = batch }
        if batch.queue.count + batch.executing.count >= batch.window { return .feed(.full) }
        batch.operations = number
        batch.letters += Array(repeating: UInt8(ascii: "N"), count: photos)
        batch.entries[number] = Message.entry(id, number, photos)
        batch.digest = Message.digest(id, number)
        if batch.queue.isEmpty { enterRing(id, batch.priority) }
        batch.queue.insert(number)
        return .feed(.fed)
    }

    private mutating func seal(_ id: BatchID, _ operations: Int, _ photos: Int) -> SealReply {
        guard let batch = state.batches[id], batch.state != nil else { return .gone }
        guard batch.operations == operations, batch.letters.count == photos else {
            return .differs(operations: batch.operations, photos: batch.letters.count)
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

    // MARK: The workers' side

    private mutating func claim(_ claim: Message.Claim) -> ClaimReply {
        let last = state.workerHashes[claim.worker]
        if let number = last?.claim, claim.number < number { return .old }
        tick()
        let lost = renew(claim.worker, claim.held)
        keepHouse(claim.worker)
        var handed: [OperationID] = []
        var next = ""
        let fence: Int
        if let last, last.claim == claim.number, let same = last.fence {
            fence = same
            handed = last.handed.filter { holds(claim.worker, fence, $0) }
        } else {
            fence = max(state.claims + 1, now)
            state.claims = fence
            (handed, next) = handOut(claim, fence)
            state.workerHashes[claim.worker, default: .init()].claim = claim.number
            state.workerHashes[claim.worker]!.fence = fence
            state.workerHashes[claim.worker]!.handed = handed
        }
        let operations = handed.map { operation in
            let batch = state.batches[operation.batch]!
            return ClaimedOperation(
                held: HeldOperation(batch: operation.batch, number: operation.number, fence: fence),
                letters: Array(batch.letters[batch.photos(of: operation.number)]),
                deaths: batch.deaths[operation.number] ?? 0,
                entry: Array((batch.entries[operation.number] ?? "no entry").utf8))
        }
        return .claimed(operations, lost: lost, next: next)
    }

    /// Hands out by priority, within one in turns, each entry a fair share of the photos.
    private mutating func handOut(_ claim: Message.Claim, _ fence: Int) -> (handed: [OperationID], next: String) {
        var handed: [OperationID] = []
        var photosLeft = claim.photos
        var looked = 0
        let start = claim.next.split(separator: ":").compactMap { Int($0) }
        for priority in Priority.allCases.reversed() where priority >= claim.lowest {
            if let rank = start.first, priority.rank > rank { continue }
            var entries = (state.rings[priority] ?? [:]).sorted { $0.value < $1.value }
            if let rank = start.first, priority.rank == rank { entries.removeAll { $0.value <= start[1] } }
            let page = entries.prefix(100 - looked)
            for (position, (id, turn)) in page.enumerated() {
                if handed.count == claim.operations || photosLeft <= 0 { return (handed, "") }
                looked += 1
                if !claim.refused.contains(id) {
                    var share = photosLeft / (page.count - position) / state.batches[id]!.size
                    if handed.isEmpty || photosLeft >= state.batches[id]!.size { share = max(share, 1) }
                    let numbers = handOut(id, min(share, claim.operations - handed.count), claim.worker, fence)
                    handed += numbers.map { OperationID(batch: id, number: $0) }
                    photosLeft -= numbers.count * state.batches[id]!.size
                    if handed.count == claim.operations || photosLeft <= 0 { return (handed, "") }
                }
                if looked == 100 { return (handed, "\(priority.rank):\(turn)") }
            }
        }
        return (handed, "")
    }

    /// Hands out the first `count` operations of a batch and gives it a new turn.
    private mutating func handOut(_ id: BatchID, _ count: Int, _ worker: String, _ fence: Int) -> [Int] {
        guard count > 0 else { return [] }
        let numbers = state.batches[id]!.queue.sorted().prefix(count)
        for number in numbers {
            state.batches[id]!.queue.remove(number)
            state.batches[id]!.executing[number] = Holder(worker: worker, fence: fence)
            state.leases[OperationID(batch: id, number: number)] = state.attended + state.batches[id]!.lease
        }
        if state.batches[id]!.state == .ready {
            state.batches[id]!.state = .executing
            state.batches[id]!.started = now
        }
        let priority = state.batches[id]!.priority
        if state.batches[id]!.queue.isEmpty {
            leaveRing(id, priority)
        } else {
            state.turn += 1
            state.rings[priority]![id] = state.turn
        }
        return Array(numbers)
    }

    private mutating func report(_ report: Message.Report) -> Answer {
        let id = report.held.batch
        let number = report.held.number
        guard var batch = state.batches[id], batch.state != nil else { return .report(.gone) }
        guard number <= batch.operations else { return .report(.lost) }
        let photos = batch.photos(of: number)
        guard holds(report.worker, report.held.fence, OperationID(batch: id, number: number)) else {
            return .report(batch.hasEnded(number) ? .ended(letters: Array(batch.letters[photos])) : .lost)
        }
        guard report.letters.count == photos.count else { return .refused }
        var differs = false
        var progress = false
        for (index, letter) in zip(photos, report.letters) where letter != UInt8(ascii: ".") {
            if isFinal(batch.letters[index]) {
                differs = differs || batch.letters[index] != letter
            } else {
                batch.letters[index] = letter
                progress = progress || isFinal(letter)
                if (97...122).contains(letter), report.failures.contains(index) {
                    batch.failures[index] = Message.failure(index)
                }
            }
        }
        var holder = batch.executing[number]!
        batch.bytesIn += max(0, report.bytesIn - holder.bytesIn)
        batch.bytesOut += max(0, report.bytesOut - holder.bytesOut)
        holder.bytesIn = max(holder.bytesIn, report.bytesIn)
        holder.bytesOut = max(holder.bytesOut, report.bytesOut)
        batch.executing[number] = holder
        if progress, let deaths = batch.deaths[number] { batch.deaths[number] = min(deaths, 2) }
        let letters = Array(batch.letters[photos])
        state.batches[id] = batch
        let ended = endIfOver(OperationID(batch: id, number: number))
        return .report(.accepted(ended: ended, letters: differs ? letters : nil))
    }

    private mutating func handback(_ held: HeldOperation, _ worker: String) -> HandbackReply {
        guard let batch = state.batches[held.batch], batch.state != nil else { return .gone }
        let operation = OperationID(batch: held.batch, number: held.number)
        if holds(worker, held.fence, operation) {
            guard requeue(operation, died: false) else { return .queued }
        } else if held.number > batch.operations || !batch.hasEnded(held.number) {
            return .lost
        }
        return .ended(letters: Array(state.batches[held.batch]!.letters[batch.photos(of: held.number)]))
    }
}

// MARK: Steps that messages share

extension StoreModel {
    private func isFinal(_ letter: UInt8) -> Bool { letter != UInt8(ascii: "N") && letter != UInt8(ascii: "D") }

    private func holds(_ worker: String, _ fence: Int, _ operation: OperationID) -> Bool {
        guard let batch = state.batches[operation.batch], batch.state != nil else { return false }
        return batch.executing[operation.number].map { $0.worker == worker && $0.fence == fence } ?? false
    }

    /// Attended time goes on.
    private mutating func tick() {
        state.attended += min(max(now - (state.seen ?? now), 0), 3000)
        state.seen = now
    }

    private mutating func renew(_ worker: String, _ held: [HeldOperation]) -> [HeldOperation] {
        var lost: [HeldOperation] = []
        for held in held {
            let operation = OperationID(batch: held.batch, number: held.number)
            if holds(worker, held.fence, operation) {
                state.leases[operation] = state.attended + state.batches[held.batch]!.lease
            } else {
                lost.append(held)
            }
        }
        return lost.sorted()
    }

    private mutating func keepHouse(_ worker: String?) {
        if let worker { state.workers[worker] = now }
        let silent = state.workers.filter { $0.value <= now - 3_600_000 }
        for (worker, _) in silent.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }).prefix(10) {
            state.workers[worker] = nil
            state.workerHashes[worker] = nil
        }
        let expired = state.leases.filter { $0.value < state.attended }
        for (operation, _) in expired.sorted(by: { ($0.value, $0.key) < ($1.value, $1.key) }).prefix(50) {
            state.leases[operation] = nil
            if state.batches[operation.batch]?.state != nil { _ = requeue(operation, died: true) }
        }
        let due = state.expiring.filter { $0.value <= now }.min { ($0.value, $0.key) < ($1.value, $1.key) }
        if let due { forgetStep(due.key) }
    }

    /// Takes an operation from its holder; true when it ended by that.
    private mutating func requeue(_ operation: OperationID, died: Bool) -> Bool {
        let id = operation.batch
        let photos = state.batches[id]!.photos(of: operation.number)
        for index in photos where state.batches[id]!.letters[index] == UInt8(ascii: "D") {
            state.batches[id]!.letters[index] = UInt8(ascii: "N")
        }
        if endIfOver(operation) { return true }
        if died { state.batches[id]!.deaths[operation.number, default: 0] += 1 }
        state.batches[id]!.executing[operation.number] = nil
        state.leases[operation] = nil
        state.batches[id]!.queue.insert(operation.number)
        if state.batches[id]!.queue.count == 1 { enterRing(id, state.batches[id]!.priority) }
        return false
    }

    /// Ends an operation that executes when its letters are all final.
    private mutating func endIfOver(_ operation: OperationID) -> Bool {
        var batch = state.batches[operation.batch]!
        let letters = batch.letters[batch.photos(of: operation.number)]
        guard letters.allSatisfy(isFinal) else { return false }
        batch.executing[operation.number] = nil
        batch.deaths[operation.number] = nil
        if !letters.contains(where: { (97...122).contains($0) }) { batch.entries[operation.number] = nil }
        state.leases[operation] = nil
        state.batches[operation.batch] = batch
        finishIfOver(operation.batch)
        return true
    }

    private mutating func finishIfOver(_ id: BatchID) {
        let batch = state.batches[id]!
        guard batch.sealed, batch.queue.isEmpty, batch.executing.isEmpty else { return }
        state.batches[id]!.state = .finished
        state.batches[id]!.finished = now
        if batch.retain >= 0 { state.expiring[id] = now + batch.retain }
    }

    private mutating func enterRing(_ id: BatchID, _ priority: Priority) {
        state.turn += 1
        if state.rings[priority]?[id] == nil { state.rings[priority, default: [:]][id] = state.turn }
    }

    private mutating func leaveRing(_ id: BatchID, _ priority: Priority) {
        state.rings[priority]?[id] = nil
        if state.rings[priority]?.isEmpty == true { state.rings[priority] = nil }
    }

    /// One step of forgetting. The batches of the model test execute fewer than 100 operations, so it is the only one.
    private mutating func forgetStep(_ id: BatchID) {
        guard let batch = state.batches[id] else { return state.expiring[id] = nil }
        leaveRing(id, batch.priority)
        for number in batch.executing.keys { state.leases[OperationID(batch: id, number: number)] = nil }
        if state.outputs[batch.output] == id { state.outputs[batch.output] = nil }
        state.submissions[id] = nil
        state.expiring[id] = nil
        state.batches[id] = nil
    }
}
