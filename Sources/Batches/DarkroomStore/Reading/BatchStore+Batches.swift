import DarkroomModel
import DarkroomRedis
import DarkroomText

extension BatchStore {
    /// The ids of all batches, earliest submission first. Members that are not valid ids are skipped.
    package func batchIDs() throws(StoreError) -> [BatchID] {
        try read(RedisCommand("ZRANGE", keys.batches, "0", "-1")).array?.compactMap(\.batch) ?? []
    }

    /// The ids of the batches that have not finished, earliest submission first. Members that are not valid ids are
    /// skipped. After a crash of Redis, unfinished batches can be missing, and finished batches included, until a
    /// worker has repaired the set.
    package func openBatchIDs() throws(StoreError) -> [BatchID] {
        let members = try read([RedisCommand("ZRANGE", keys.open, "0", "-1")], ofAnotherType: .null)[0].array
        return members?.compactMap(\.batch) ?? []
    }

    /// The number of all batches.
    package func batchCount() throws(StoreError) -> Int { try read(RedisCommand("ZCARD", keys.batches)).number ?? 0 }

    /// Returns the ids whose batches are neither finished nor cancelled nor forgotten. Accepts at most 1,000 ids.
    package func unfinished(_ ids: [BatchID]) throws(StoreError) -> Set<BatchID> {
        let values = try read(
            ids.map { RedisCommand("HMGET", keys.batch($0), "state", "flag.cancelled") }, ofAnotherType: .null)
        let isOver = values.map { value in
            let fields = value.array?.map(\.string) ?? []
            return fields.count != 2 || fields[0] == nil || fields[0] == BatchState.finished.rawValue
                || fields[1] == "1"
        }
        return Set(zip(ids, isOver).filter { !$0.1 }.map(\.0))
    }

    /// The facts of batches. Batches that no longer exist are omitted.
    package func facts(of ids: [BatchID]) throws(StoreError) -> [BatchFacts] {
        var facts: [BatchFacts] = []
        let values = try read(
            ids.flatMap { [RedisCommand("HGETALL", keys.batch($0)), RedisCommand("HGETALL", keys.reasons($0))] },
            ofAnotherType: .null)
        for (position, id) in ids.enumerated() {
            let (batch, reasons) = (values[2 * position], values[2 * position + 1])
            let damage = zip(["hash", "reasons"], [batch, reasons]).filter { $1 == .null }.map { name, _ in
                "its \(name) has another type"
            }
            let fields = batch == .null ? ["state": BatchState.ready.rawValue] : Self.fields(batch)
            if let batch = BatchFacts(id: id, fields: fields, reasons: Self.reasons(reasons), damage: damage) {
                facts.append(batch)
            }
        }
        let waiting = facts.indices.filter { facts[$0].state == .waiting }
        for (position, needed) in zip(waiting, try dependencies(of: waiting.map { facts[$0].id })) {
            facts[position].waitsFor = needed
        }
        let open = facts.indices.filter { facts[$0].isOpen }
        for (position, deferral) in zip(open, try deferrals(of: open.map { facts[$0].id })) {
            facts[position].deferral = deferral
        }
        return facts
    }

    /// The deferred operations of each of these batches.
    private func deferrals(of ids: [BatchID]) throws(StoreError) -> [Deferral?] {
        guard !ids.isEmpty else { return [] }
        let scores = try read(
            [RedisCommand(["ZMSCORE", keys.deferred] + ids.map(\.description))], ofAnotherType: .null)
        let known = (scores.first?.array ?? []).map { $0 != .null }
        guard known.count == ids.count, known.contains(true) else { return ids.map { _ in nil } }
        // The retention clock had the value `retention.clock` when the time of Redis was `seen`.
        let clocks = try read(RedisCommand("HMGET", keys.control, "seen", "retention.clock")).array ?? []
        let times = clocks.map { $0.string.flatMap { Int($0) } }
        guard times.count == 2, let seen = times[0], let clock = times[1] else { return ids.map { _ in nil } }
        let found = zip(ids, known).filter(\.1).map(\.0)
        let from = String(Keys.deferredScore)
        let values = try read(
            found.flatMap { id in
                [
                    RedisCommand("ZCOUNT", keys.queue(id), from, "+inf"),
                    RedisCommand("ZRANGEBYSCORE", keys.queue(id), from, "+inf", "WITHSCORES", "LIMIT", "0", "1"),
                ]
            }, ofAnotherType: .null)
        var deferrals: [BatchID: Deferral] = [:]
        for (position, id) in found.enumerated() {
            guard let operations = values[2 * position].number, operations > 0,
                let score = values[2 * position + 1].array?.last?.string.flatMap({ Double($0) }),
                let due = Int(exactly: score.rounded())
            else { continue }
            let left = min(due - Keys.deferredScore - clock, Deferral.longest.wholeMilliseconds)
            deferrals[id] = Deferral(operations: operations, due: seen + left)
        }
        return ids.map { deferrals[$0] }
    }

    /// `BatchFacts.outputTaken` of batches. Batches that no longer exist are omitted.
    package func outputsTaken(by ids: [BatchID]) throws(StoreError) -> [BatchID: Int] {
        let values = try read(
            ids.map { RedisCommand("HMGET", keys.batch($0), "output.taken", "submitted") }, ofAnotherType: .null)
        var taken: [BatchID: Int] = [:]
        for (id, value) in zip(ids, values) {
            let numbers = (value.array ?? []).compactMap {
                $0.bytes.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
            }
            taken[id] = numbers.first
        }
        return taken
    }

    /// The dependencies of each of these batches, earliest submission first; empty for a batch that no longer exists.
    package func dependencies(of ids: [BatchID]) throws(StoreError) -> [[BatchID]] {
        try read(ids.map { RedisCommand("SMEMBERS", keys.dependencies($0)) }, ofAnotherType: .null).map { value in
            (value.array ?? []).compactMap(\.batch).sorted()
        }
    }

    package func facts(of id: BatchID) throws(StoreError) -> BatchFacts? {
        try facts(of: [id]).first
    }

    /// The keys of a wrong type, by batch: a phrase for each key.
    func damagedKeys(of ids: [BatchID]) throws(StoreError) -> [BatchID: [String]] {
        let wanted: [(name: String, type: String)] = [
            ("states", "string"), ("operations", "hash"), ("queue", "zset"), ("executing", "hash"),
            ("lease.expiries", "hash"), ("retries", "hash"),
            ("failures", "hash"), ("dependencies", "set"), ("dependents", "set"),
        ]
        let types = try read(
            ids.flatMap { id in wanted.map { RedisCommand("TYPE", "\(keys.batch(id)):\($0.name)") } })
        var damage: [BatchID: [String]] = [:]
        for (position, type) in types.enumerated() {
            let (id, key) = (ids[position / wanted.count], wanted[position % wanted.count])
            guard let found = type.string, found != key.type, found != "none" else { continue }
            damage[id, default: []].append("the key :\(key.name) is not a \(key.type)")
        }
        return damage
    }

    /// The batch with this id, name, or unique prefix of its id. If several batches have the name, returns the newest.
    /// - Throws: ``StoreError`` with the code `noSuchBatch` or `ambiguousBatch`. Its text names similar batches.
    package func batch(named name: String) throws(StoreError) -> BatchFacts {
        if let exact = BatchID(name), let facts = try facts(of: exact) { return facts }
        if let newest = try read(RedisCommand("HGET", keys.names, name)).batch, let facts = try facts(of: newest),
            facts.options.name == name, !name.isEmpty
        {
            return facts
        }
        let ids = try batchIDs()
        let all = try facts(of: ids)
        if !name.isEmpty, let newest = all.last(where: { $0.options.name == name }) { return newest }
        let found = name.isEmpty ? [] : all.filter { $0.id.description.hasPrefix(name) }
        guard let first = found.first else {
            throw StoreError(
                .noSuchBatch,
                "no batch \"\(name)\": \(Self.suggestion(for: name, all))", .listBatches)
        }
        guard found.count == 1 else {
            let matches = found.prefix(5).map(\.id.description).joined(separator: ", ")
            throw StoreError(
                .ambiguousBatch, "\"\(name)\" names \(found.count) batches (\(matches)); give more of the id")
        }
        return first
    }

    /// A suggestion for an unknown name: similar names, or the newest batches if no name is similar.
    private static func suggestion(for name: String, _ all: [BatchFacts]) -> String {
        guard !all.isEmpty else { return "there is no batch at all" }
        // The newest batch first, and each name only once.
        let names = all.reversed().map(\.options.name).reduce(into: [String]()) { names, name in
            if !name.isEmpty, !names.contains(name) { names.append(name) }
        }
        let near = NearMiss.all(name, in: names).prefix(3).map { "\"\($0)\"" }
        guard near.isEmpty else { return "did you mean \(near.joined(separator: ", "))?" }
        let newest = all.suffix(3).map { $0.options.name.isEmpty ? "\($0.id)" : "\($0.id) \"\($0.options.name)\"" }
        return "the newest are " + newest.joined(separator: ", ")
    }

    /// A number that changes whenever a user adds or removes a dependency.
    package func dependencyVersion() throws(StoreError) -> Int {
        try read(RedisCommand("HGET", keys.control, "dependencies")).number ?? 0
    }

    /// The number of failed photos for each state code, from the reply of HGETALL. A state code may be a byte that is
    /// not valid UTF-8. Fields that are not one byte long are skipped.
    private static func reasons(_ value: RedisValue) -> [UInt8: String] {
        let list = value.array ?? []
        var reasons: [UInt8: String] = [:]
        for at in stride(from: 0, to: list.count - 1, by: 2) {
            guard let field = list[at].bytes, field.count == 1, let count = list[at + 1].string else { continue }
            reasons[field[0]] = count
        }
        return reasons
    }

    /// The fields of a hash from the reply of HGETALL. Bytes that are not valid UTF-8 become U+FFFD, so that a damaged
    /// value does not count as missing.
    static func fields(_ value: RedisValue) -> [String: String] {
        let list = value.array ?? []
        var fields: [String: String] = [:]
        for at in stride(from: 0, to: list.count - 1, by: 2) {
            guard let field = list[at].string, let bytes = list[at + 1].bytes else { continue }
            fields[field] = String(decoding: bytes, as: UTF8.self)
        }
        return fields
    }
}
