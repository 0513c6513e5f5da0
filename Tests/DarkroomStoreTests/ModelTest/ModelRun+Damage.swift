import DarkroomModel

@testable import DarkroomStore
@testable import StoreInspection

/// Damage to the state as after a torn append-only file: only the first commands of a script were executed. The steps of
/// Repair.lua must restore all invariants.
extension ModelRun {
    /// Sends a step of a repair, which changes nothing in an undamaged state.
    func repair() throws {
        let known = bench.state.batches.keys.sorted()
        try send(.repair(random.chance(30) ? random.pick(known) : nil))
    }

    /// Damages a batch in one to three ways, and repairs it.
    func damage() throws {
        guard let id = random.pick(bench.state.batches.keys.sorted()), let batch = bench.state.batches[id],
            batch.state != nil
        else { return }
        let ways = [
            halfClaim, halfRequeue, halfReport, wrongCounter, wrongReason, halfReady, halfRetry, halfFinish,
            halfRelease, halfCancel, halfDeferral, leftOver,
        ]
        var commands: [[String]] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) { commands += random.pick(ways)!(id, batch) }
        // Not together with half a claim: a held operation without an entry is left to its worker.
        if random.chance(10) { commands = lostEntry(id, batch) }
        guard !commands.isEmpty else { return }
        try bench.damage(commands) {
            let store = bench.store
            _ = try store.perform(store.repair(id))
            for _ in 0..<1000 where try !store.perform(store.repair()).hasMore { return }
            throw bench.failure(["1000 steps do not end the repair"])
        }
    }

    /// The first of `commands`, at least one.
    private func first(_ commands: [[String]]) -> [[String]] {
        Array(commands.prefix(Int.random(in: 1...commands.count, using: &random)))
    }

    private func halfClaim(_ id: BatchID, _ batch: BatchContent) -> [[String]] {
        guard !batch.isCancelled, batch.state != .waiting, let number = random.pick(batch.queue.sorted()) else {
            return []
        }
        return first([
            ["ZREM", "batch:\(id):queue", "\(number)"],
            ["HSET", "batch:\(id):executing", "\(number)", "torn \(bench.state.claims) 0 0"],
            ["ZADD", "leases", "\(bench.state.leaseClock + 100_000)", "\(id)/\(number)"],
        ])
    }

    private func halfRequeue(_ id: BatchID, _ batch: BatchContent) -> [[String]] {
        guard let number = random.pick(batch.executing.keys.sorted()) else { return [] }
        return first([
            ["ZREM", "leases", "\(id)/\(number)"],
            ["HDEL", "batch:\(id):executing", "\(number)"],
            ["HINCRBY", "batch:\(id)", "executing", "-1"],
            ["ZADD", "batch:\(id):queue", "\(number)", "\(number)"],
        ])
    }

    private func halfReport(_ id: BatchID, _ batch: BatchContent) -> [[String]] {
        guard !batch.isCancelled, let number = random.pick(batch.executing.keys.sorted()) else { return [] }
        let photos = batch.photos(of: number)
        let codes = batch.stateCodes[photos].map { [78, 68].contains($0) ? random.pick(Array("Fd".utf8))! : $0 }
        // The commands are texts, which cannot contain the codes from 0x80 on.
        guard codes.allSatisfy({ $0 < 0x80 }) else { return [] }
        // The operation is no longer held: a held operation with final codes is left to its worker.
        let begun = [
            ["SETRANGE", "batch:\(id):states", "\(photos.lowerBound)", String(decoding: codes, as: UTF8.self)],
            ["HDEL", "batch:\(id):executing", "\(number)"],
        ]
        return begun
            + first([
                ["ZREM", "leases", "\(id)/\(number)"],
                ["HINCRBY", "batch:\(id):reasons", "d", "1"],
                ["HDEL", "batch:\(id):operations", "\(number)"],
                ["HINCRBY", "batch:\(id)", "executing", "-1"],
            ])
    }

    private func lostEntry(_ id: BatchID, _ batch: BatchContent) -> [[String]] {
        guard !batch.isCancelled, let number = random.pick(batch.queue.sorted()) else { return [] }
        return [["HDEL", "batch:\(id):operations", "\(number)"]]
    }

    private func wrongCounter(_ id: BatchID, _ batch: BatchContent) -> [[String]] {
        let fields = [
            "executing", "operations.ended", "operations.kept", "count.downloaded", "count.filtered", "count.failed",
            "count.cancelled",
        ]
        guard batch.state != .finished || !batch.isCancelled, let field = random.pick(fields) else { return [] }
        // Below 0, workers treat the batch as gone until it is repaired.
        return [["HINCRBY", "batch:\(id)", field, "\(Int.random(in: -3...3, using: &random))"]]
    }

    private func wrongReason(_ id: BatchID, _ batch: BatchContent) -> [[String]] {
        let code = random.pick(["a", "d", "z"])!
        return [["HINCRBY", "batch:\(id):reasons", code, "\(Int.random(in: 1...3, using: &random))"]]
    }

    private func halfReady(_ id: BatchID, _ batch: BatchContent) -> [[String]] {
        if random.chance(50) { return [["ZREM", "ready:\(batch.priority.rawValue)", "\(id)"]] }
        // Two batches in a ready queue must have different turns (see `StoreInvariants`), so this batch gets a new one.
        let turn = "\(bench.state.turn + 1)"
        return [
            ["HSET", "control", "turn", turn],
            ["ZADD", "ready:\(random.pick(BatchPriority.allCases)!.rawValue)", turn, "\(id)"],
        ]
    }

    private func halfRetry(_ id: BatchID, _ batch: BatchContent) -> [[String]] {
        let failed = batch.entries.keys.sorted().filter { batch.hasEnded($0) }
        guard !batch.isCancelled, let number = random.pick(failed) else { return [] }
        let photos = batch.photos(of: number)
        let codes = batch.stateCodes[photos].map { FailureReason.isStateCode($0) ? UInt8(ascii: "N") : $0 }
        return first([
            ["SETRANGE", "batch:\(id):states", "\(photos.lowerBound)", String(decoding: codes, as: UTF8.self)],
            ["ZADD", "batch:\(id):queue", "\(number)", "\(number)"],
        ])
    }

    private func halfFinish(_ id: BatchID, _ batch: BatchContent) -> [[String]] {
        switch batch.state {
        case .finished: [["ZREM", random.pick(["expiring", "releases"])!, "\(id)"], ["ZADD", "open", "1", "\(id)"]]
        case .waiting: [["ZREM", "open", "\(id)"]]
        default:
            [
                ["ZREM", "open", "\(id)"],
                ["HSET", "batch:\(id)", "state", "finished", "finished", "\(batch.submitted)"],
            ]
        }
    }

    /// The batch stops to wait, but is still `waiting`.
    private func halfRelease(_ id: BatchID, _ batch: BatchContent) -> [[String]] {
        batch.dependencies.sorted().flatMap { other in
            [["SREM", "batch:\(other):dependents", "\(id)"], ["SREM", "batch:\(id):dependencies", "\(other)"]]
        }
    }

    private func halfCancel(_ id: BatchID, _ batch: BatchContent) -> [[String]] {
        guard batch.state != .finished, random.chance(20) else { return [] }
        return first([
            ["HSET", "batch:\(id)", "flag.cancelled", "1"], ["ZREM", "ready:\(batch.priority.rawValue)", "\(id)"],
        ])
    }

    /// A deferred operation whose batch is missing in `deferred`, so that the operation would never become due.
    private func halfDeferral(_ id: BatchID, _ batch: BatchContent) -> [[String]] {
        guard !batch.isCancelled, let number = random.pick(batch.queue.sorted()) else { return [] }
        // The second score is neither that of an operation that can be claimed nor that of a deferred one.
        let score = random.pick([(1 << 40) + bench.state.retentionClock, 1 << 35])!
        return [["ZREM", "deferred", "\(id)"], ["ZADD", "batch:\(id):queue", "\(score)", "\(number)"]]
    }

    /// Parts of operations that were never fed, or have ended.
    private func leftOver(_ id: BatchID, _ batch: BatchContent) -> [[String]] {
        guard !batch.isCancelled else { return [] }
        let next = batch.operations + 1
        let ended = (1..<next).filter { batch.hasEnded($0) && batch.entries[$0] == nil }
        return first([
            ["HSET", "batch:\(id):operations", "\(next)", "photos"],
            ["ZADD", "batch:\(id):queue", "\(next)", "\(next)"],
        ])
            + (random.pick(ended).map { number in
                first([
                    ["HSET", "batch:\(id):lease.expiries", "\(number)", "2"],
                    ["ZADD", "batch:\(id):queue", "\(number)", "\(number)"],
                    ["HSET", "batch:\(id):operations", "\(number)", "photos"],
                ])
            } ?? [])
    }
}
