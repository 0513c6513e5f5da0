import DarkroomModel

@testable import DarkroomStore
@testable import StoreInspection

/// Controls of running batches, and retries, growth and webhooks of finished batches.
extension ModelRun {
    /// Performs one of 46 weighted actions.
    func control() throws {
        switch Int.random(in: 0..<46, using: &random) {
        case 0..<2: try cancel()
        case 2..<7: try cancelPhotos()
        case 7..<14: try suspend()
        case 14..<17: try suspendCluster()
        case 17..<20: try prioritize()
        case 20..<26: try focus()
        case 26: try limit()
        case 27..<31: try addDependency()
        case 31..<33: try removeDependency()
        case 33..<38: try retry()
        case 38: try loseEntry()
        case 39..<41: try restoreEntry()
        case 41..<44: try callWebhook()
        default: try grow()
        }
    }

    /// A random batch, sometimes a forgotten or unknown one.
    private func anyBatch(_ wanted: (BatchContent) -> Bool = { _ in true }) -> BatchID? {
        if random.chance(5) { return random.chance(50) ? BatchID("nobody") : coordinator.batches.first?.id }
        let there = bench.state.batches.filter { wanted($0.value) || random.chance(15) }.keys.sorted()
        return random.pick(there)
    }

    private func isOpen(_ batch: BatchContent) -> Bool { batch.state != .finished && !batch.isCancelled }

    private func cancel() throws {
        guard let id = random.chance(30) ? anyBatch({ $0.isCancelled && $0.state != .finished }) : anyBatch() else {
            return
        }
        _ = try deliver(.cancel(id, reason: random.chance(50) ? "" : "no longer needed"))
    }

    private func cancelPhotos() throws {
        guard let id = anyBatch(isOpen) else { return }
        let fed = bench.state.batches[id]?.stateCodes.count ?? 5
        let end = random.chance(5) ? fed + 3 : fed
        guard end > 0 else { return }
        var ranges: [ClosedRange<Int>] = []
        var at = Int.random(in: 0..<end, using: &random)
        while at < end, ranges.count < 4 {
            let last = min(end - 1, at + Int.random(in: 0...random.pick([0, 2, 9])!, using: &random))
            ranges.append(at...last)
            at = last + 2 + Int.random(in: 0...5, using: &random)
        }
        _ = try deliver(.cancelPhotos(id, ranges))
    }

    private func suspend() throws {
        let suspended = bench.state.batches.filter { !$0.value.suspended.isEmpty && isOpen($0.value) }.keys.sorted()
        if let id = random.pick(suspended), random.chance(60) {
            let parts = bench.state.batches[id]!.suspended.sorted { $0.rawValue < $1.rawValue }
            _ = try deliver(.suspend(id, random.pick(parts)!, false))
        } else if let id = anyBatch(isOpen) {
            _ = try deliver(.suspend(id, random.pick(QueuePart.allCases)!, random.chance(70)))
        }
    }

    private func suspendCluster() throws {
        let cluster = bench.state.cluster
        if cluster.isSuspended || cluster.areDownloadsSuspended || cluster.areFiltrationsSuspended {
            let part: QueuePart =
                cluster.isSuspended ? .everything : cluster.areDownloadsSuspended ? .downloads : .filtrations
            _ = try deliver(.suspend(nil, part, false))
        } else if random.chance(30) {
            _ = try deliver(.suspend(nil, random.pick(QueuePart.allCases)!, random.chance(80)))
        }
    }

    private func prioritize() throws {
        guard let id = anyBatch(isOpen) else { return }
        _ = try deliver(.prioritize(id, random.pick(BatchPriority.allCases)!))
    }

    private func focus() throws {
        guard let id = anyBatch(isOpen) else { return }
        if let focus = bench.state.batches[id]?.focus, random.chance(focus.only ? 60 : 30) {
            if random.chance(30) {
                let isStill = random.chance(70)
                let photos = isStill ? focus.photos : focus.photos.lowerBound...focus.photos.upperBound + 1
                _ = try deliver(.clearFocus(id, ifStill: photos))
                return
            }
            _ = try deliver(.focus(id, random.chance(20) ? focus : nil))
            return
        }
        let photos = (bench.state.batches[id]?.stateCodes.count ?? 0) + 10
        let first = Int.random(in: 0..<photos, using: &random)
        let last = first + Int.random(in: 0...random.pick([0, 5, 100])!, using: &random)
        _ = try deliver(.focus(id, BatchControls.Focus(first...last, only: random.chance(30))))
    }

    private func limit() throws {
        if random.chance(40) {
            try send(.clearLimits)
        } else {
            let (downloads, filtrations) = (random.pick([nil, 1, 16]), random.pick([nil, 2, 4]))
            try send(.limit(downloads: downloads!, filtrations: filtrations!))
        }
    }

    // MARK: Dependencies

    /// Random dependencies of a new batch, except the batch `id`. Sometimes they include an unknown batch.
    func othersToWaitFor(_ id: BatchID?) -> [BatchID] {
        guard random.chance(40) else { return [] }
        var others = bench.state.batches.filter { $0.key != id && ($0.value.state != .finished || random.chance(20)) }
            .keys.sorted()
        others.shuffle(using: &random)
        others = Array(others.prefix(Int.random(in: 1...3, using: &random)))
        if random.chance(8) { others.append(BatchID("nobody")) }
        return others
    }

    /// Adds a dependency in the same way as a client: reads the dependencies and their version, rejects a cycle, and
    /// sends the version.
    private func addDependency() throws {
        let startable = { (batch: BatchContent) in batch.state == .ready || batch.state == .waiting }
        // Sometimes the dependency has failed or was cancelled.
        let isLate = random.chance(25)
        let other = isLate ? anyBatch { $0.state == .finished && !$0.succeeded } : anyBatch(isOpen)
        guard let id = anyBatch({ startable($0) && (!isLate || $0.afterSuccess) }),
            let other = random.chance(3) ? id : other
        else { return }
        var reached: Set = [other]
        var open = [other]
        while let next = open.popLast() {
            for further in bench.state.batches[next]?.dependencies ?? [] where reached.insert(further).inserted {
                open.append(further)
            }
        }
        guard !reached.contains(id) || id == other else { return }
        var version = bench.state.dependencies
        if random.chance(20) { version += random.pick([-1, 1])! }
        _ = try deliver(.addDependency(id, on: other, version: version))
    }

    private func removeDependency() throws {
        let waiting = { (batch: BatchContent) in batch.state == .waiting }
        guard let id = anyBatch(waiting) else { return }
        let awaited = bench.state.batches[id]?.dependencies.sorted() ?? [id]
        guard let other = random.pick(random.chance(85) ? awaited : bench.state.batches.keys.sorted()) else { return }
        _ = try deliver(.removeDependency(id, from: other))
    }

    // MARK: After the end

    func retry() throws {
        let failed = { (batch: BatchContent) in !batch.reasonsOfStateCodes.isEmpty }
        let releasing = random.chance(50) ? bench.state.releases.keys.sorted() : []
        guard let id = random.pick(releasing) ?? anyBatch(failed) else { return }
        let operations = max(1, bench.state.batches[id]?.operations ?? 1)
        let first = random.chance(60) ? 1 : Int.random(in: 1...operations, using: &random)
        let last = random.chance(60) ? operations : Int.random(in: first...operations + 2, using: &random)
        let reasons = random.pick([[], [], [.notAURL], [.timeout, .other]] as [[FailureReason]])!
        _ = try deliver(.retry(id, first...max(first, last), reasons, overwrite: random.chance(20)))
    }

    /// Simulates that a fully fed list has grown.
    private func grow() throws {
        guard let id = anyBatch({ $0.sealed && $0.operations > 0 }), let batch = bench.state.batches[id] else {
            _ = try deliver(.grow(BatchID("nobody"), operations: 1, photos: 1, digest: "", last: nil))
            return
        }
        let photos = batch.stateCodes.count
        let held = photos - (batch.operations - 1) * batch.size
        let isShort = batch.operations > 0 && held < batch.size
        let last = isShort ? Int.random(in: held + 1...batch.size, using: &random) : nil
        // The feeder may have read an older state of the batch.
        let digest = random.chance(10) ? "another digest" : batch.digest
        let message = Message.grow(id, operations: batch.operations, photos: photos, digest: digest, last: last)
        guard case .grow(.grown) = try deliver(message) else { return }
        let size = batch.size
        let full = last == nil || last == size
        coordinator.grow(
            id,
            to: (last.map { photos - held + $0 } ?? photos) + (full ? Int.random(in: 0...size * 3, using: &random) : 0))
        coordinator.expects(id, batch.operations + 1)
    }

    /// Removes the entry of an operation with failures, as if Redis had already kept 10,000 other entries.
    private func loseEntry() throws {
        for (id, batch) in unforgotten() {
            guard let number = random.pick(batch.entries.keys.filter(batch.hasEnded).sorted()) else { continue }
            try bench.tamper(["HDEL", "batch:\(id):operations", "\(number)"], compares: false) {
                $0.batches[id]!.entries[number] = nil
            }
            return try bench.tamper(["HINCRBY", "batch:\(id)", "operations.kept", "-1"]) { _ in }
        }
    }

    private func unforgotten() -> [(BatchID, BatchContent)] {
        bench.state.batches.sorted { $0.key < $1.key }.filter { $0.value.state != nil && !$0.value.isCancelled }
            .map { ($0.key, $0.value) }
    }

    private func restoreEntry() throws {
        // Prefers an operation whose entry is missing.
        for (id, batch) in unforgotten() {
            for number in 1..<batch.operations + 1 where batch.entries[number] == nil && batch.hasEnded(number) {
                let photos = batch.photos(of: number)
                guard batch.stateCodes[photos].contains(where: { FailureReason.isStateCode($0) }) else { continue }
                _ = try deliver(.restoreEntry(id, number: number, photos: photos.count))
                return
            }
        }
        guard let id = anyBatch() else { return }
        _ = try deliver(.restoreEntry(id, number: Int.random(in: 1...9, using: &random), photos: 1))
    }

    private func callWebhook() throws {
        if random.chance(50), let at = due.indices.randomElement(using: &random) {
            let webhook = random.chance(70) ? due.remove(at: at) : due[at]
            if case .takeWebhook(.taken(_, let score)) = try deliver(
                .takeWebhook(webhook, random.chance(50) ? .zero : .seconds(60)))
            {
                taken.append((webhook.member, score))
                if taken.count > 20 { taken.removeFirst(10) }
            }
        } else if let at = taken.indices.randomElement(using: &random) {
            let (member, score) = random.chance(70) ? taken.remove(at: at) : taken[at]
            let delay: Duration? = random.chance(50) ? nil : .zero
            _ = try deliver(.endWebhookAttempt(member, score: score, retryAfter: delay))
        }
    }
}
