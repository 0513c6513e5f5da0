import DarkroomModel
import DarkroomRedis
import DarkroomText

/// A worker as it describes itself in Redis.
public struct WorkerFacts: Sendable, Equatable {
    /// The worker's id, new with every start.
    public let id: String
    /// When it was last heard of, in ms since 1970 of the Redis clock.
    public let seen: Int
    /// What it says of itself: host, pid, version, started, slots, what it runs, rates.
    public let fields: [String: String]
    /// Batches that it refuses without a reason in its fields, of those given to ``BatchStore/workers(refusing:)``.
    public internal(set) var refusedToo: Set<BatchID> = []

    /// A worker by what it says of itself.
    public init(id: String, seen: Int, fields: [String: String]) {
        self.id = id
        self.seen = seen
        self.fields = fields
    }
}

/// An operation as `darkroom operations` shows it.
public struct OperationFacts: Sendable, Equatable {
    /// Where an operation stands.
    public enum State: String, Sendable, Codable {
        case queued, executing, ended
    }

    /// Its number in the batch, from 1.
    public let number: Int
    /// Where it stands.
    public let state: State
    /// Who holds it.
    public let worker: String?
    /// How many leases of it have expired.
    public let deaths: Int
    /// One letter a photo.
    public let letters: [UInt8]
}

/// Reading what there is: plain commands, which change nothing.
extension BatchStore {
    /// The Redis clock in ms since 1970.
    public func time() throws(StoreError) -> Int {
        let value = try read(RedisCommand("TIME"))
        guard let parts = value.array, parts.count == 2, let seconds = parts[0].number, let micros = parts[1].number
        else {
            throw .unexpectedReply(value, of: "TIME")
        }
        return seconds * 1000 + micros / 1000
    }

    /// The ids of all batches, earliest submission first. Members that are not valid ids are left out.
    public func batchIDs() throws(StoreError) -> [BatchID] {
        try read(RedisCommand("ZRANGE", keys.batches, "0", "-1")).array?.compactMap(\.batch) ?? []
    }

    /// Those of `ids`, at most 1,000, that have neither finished nor been cancelled nor been forgotten.
    public func unfinished(_ ids: [BatchID]) throws(StoreError) -> Set<BatchID> {
        let values = try read(
            ids.map { RedisCommand("HMGET", keys.batch($0), "state", "flag.cancelled") }, ofAnotherType: .null)
        let isOver = values.map { value in
            let fields = value.array?.map(\.string) ?? []
            return fields.count != 2 || fields[0] == nil || fields[0] == BatchState.finished.rawValue
                || fields[1] == "1"
        }
        return Set(zip(ids, isOver).filter { !$0.1 }.map(\.0))
    }

    /// The facts of batches; those that are gone are left out.
    public func facts(of ids: [BatchID]) throws(StoreError) -> [BatchFacts] {
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
            if let batch = BatchFacts(id: id, fields: fields, reasons: Self.fields(reasons), damage: damage) {
                facts.append(batch)
            }
        }
        let waiting = facts.indices.filter { facts[$0].state == .waiting }
        for (position, needed) in zip(waiting, try dependencies(of: waiting.map { facts[$0].id })) {
            facts[position].waitsFor = needed
        }
        return facts
    }

    /// When each of these batches took its output folder last, see `BatchFacts.outputTaken`; those that are gone are left out.
    public func outputsTaken(by ids: [BatchID]) throws(StoreError) -> [BatchID: Int] {
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

    /// The batches that each of these waits for, earliest submission first; none for one that is gone.
    public func dependencies(of ids: [BatchID]) throws(StoreError) -> [[BatchID]] {
        try read(ids.map { RedisCommand("SMEMBERS", keys.dependencies($0)) }, ofAnotherType: .null).map { value in
            (value.array ?? []).compactMap(\.batch).sorted()
        }
    }

    /// The facts of a batch, nil when it is gone.
    public func facts(of id: BatchID) throws(StoreError) -> BatchFacts? {
        try facts(of: [id]).first
    }

    /// The keys of batches that have a wrong type, one phrase for each key.
    func damagedKeys(of ids: [BatchID]) throws(StoreError) -> [BatchID: [String]] {
        let wanted: [(name: String, type: String)] = [
            ("states", "string"), ("operations", "hash"), ("queue", "zset"), ("executing", "hash"), ("deaths", "hash"),
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

    /// The batch that a user names by its id, its name, or a unique prefix of its id. A name means the newest batch that
    /// has it.
    /// - Throws: ``StoreError`` with the code `noSuchBatch` or `ambiguousBatch`, which lists what there is.
    public func batch(named name: String) throws(StoreError) -> BatchFacts {
        let ids = try batchIDs()
        if let exact = ids.first(where: { $0.description == name }), let facts = try facts(of: exact) { return facts }
        let all = try facts(of: ids)
        if !name.isEmpty, let newest = all.last(where: { $0.options.name == name }) { return newest }
        let found = name.isEmpty ? [] : all.filter { $0.id.description.hasPrefix(name) }
        guard let first = found.first else {
            throw StoreError(
                .noSuchBatch,
                "no batch \"\(name)\": \(Self.hint(for: name, all)) \"darkroom batches\" lists them")
        }
        guard found.count == 1 else {
            let matches = found.prefix(5).map(\.id.description).joined(separator: ", ")
            throw StoreError(
                .ambiguousBatch, "\"\(name)\" names \(found.count) batches (\(matches)); give more of the id")
        }
        return first
    }

    /// For a name that no batch has: the names that resemble it, or otherwise the newest batches.
    private static func hint(for name: String, _ all: [BatchFacts]) -> String {
        guard !all.isEmpty else { return "there is no batch at all;" }
        // The newest first, each name once.
        let names = all.reversed().map(\.options.name).reduce(into: [String]()) { names, name in
            if !name.isEmpty, !names.contains(name) { names.append(name) }
        }
        let near = NearMiss.all(name, in: names).prefix(3).map { "\"\($0)\"" }
        guard near.isEmpty else { return "did you mean \(near.joined(separator: ", "))?" }
        let newest = all.suffix(3).map { $0.options.name.isEmpty ? "\($0.id)" : "\($0.id) \"\($0.options.name)\"" }
        return "the newest are " + newest.joined(separator: ", ") + ";"
    }

    /// The letters of the photos in `range` (indexes from 0), fewer when the batch has fewer.
    public func letters(of id: BatchID, in range: Range<Int>) throws(StoreError) -> [UInt8] {
        guard !range.isEmpty else { return [] }
        let command = RedisCommand("GETRANGE", keys.states(id), String(range.lowerBound), String(range.upperBound - 1))
        return try read(command).bytes ?? []
    }

    /// The entry of an operation, nil when it is no longer kept.
    public func entry(of id: BatchID, operation number: Int) throws(StoreError) -> [UInt8]? {
        try read(RedisCommand("HGET", keys.operations(id), String(number))).bytes
    }

    /// The entries of operations, nil for those no longer kept; ask for some ten at a time, an entry may have 1 MiB.
    public func entries(of id: BatchID, operations numbers: [Int]) throws(StoreError) -> [[UInt8]?] {
        guard !numbers.isEmpty else { return [] }
        let words = ["HMGET", keys.operations(id)] + numbers.map(String.init)
        let values = try read(RedisCommand(arguments: words.map { [UInt8]($0) })).array ?? []
        return values.map(\.bytes)
    }

    /// What is kept of failed photos: index and JSON, at most 10,000, in order.
    public func failures(of id: BatchID) throws(StoreError) -> [(index: Int, json: String)] {
        Self.fields(try read(RedisCommand("HGETALL", keys.failures(id)))).compactMap { index, json in
            Int(index).flatMap { StoredBounds.indexes.contains($0) ? ($0, json) : nil }
        }.sorted { $0.index < $1.index }
    }

    /// The operations with the numbers in `range`, at most 1,000 at a time.
    public func operations(of batch: BatchFacts, in range: ClosedRange<Int>) throws(StoreError) -> [OperationFacts] {
        let numbers = Array(range.clamped(to: 1...max(1, batch.operations))).filter { $0 <= batch.operations }
        guard let first = numbers.first, let last = numbers.last else { return [] }
        let size = batch.options.operationSize
        let texts = numbers.map(String.init)
        func command(_ name: String, _ key: String) -> RedisCommand {
            RedisCommand(arguments: ([name, key] + texts).map { [UInt8]($0) })
        }
        let values = try read([
            command("ZMSCORE", keys.queue(batch.id)), command("HMGET", keys.executing(batch.id)),
            command("HMGET", keys.deaths(batch.id)),
            RedisCommand("GETRANGE", keys.states(batch.id), String((first - 1) * size), String(last * size - 1)),
        ])
        guard let queued = values[0].array, let holders = values[1].array, let deaths = values[2].array,
            let letters = values[3].bytes
        else { throw .unexpectedReply(.array(values), of: "operations") }
        return numbers.enumerated().map { position, number in
            let holder = holders[position].string
            // What of a cancelled batch was queued never runs, also while it still stands in the queue.
            let isQueued = queued[position] != .null && !batch.cancelled
            let start = min(position * size, letters.count)
            return OperationFacts(
                number: number, state: holder != nil ? .executing : isQueued ? .queued : .ended,
                worker: holder?.split(separator: " ").first.map(String.init), deaths: deaths[position].number ?? 0,
                letters: Array(letters[start..<min(start + size, letters.count)]))
        }
    }

    /// The workers that were heard of within the last hour, the one heard of last first.
    public func workers() throws(StoreError) -> [WorkerFacts] {
        let list = try read(RedisCommand("ZREVRANGE", keys.workers, "0", "-1", "WITHSCORES")).array ?? []
        let ids = stride(from: 0, to: list.count - 1, by: 2).compactMap { at in
            list[at].string.map { (id: $0, seen: list[at + 1].number ?? 0) }
        }
        let hashes = try read(ids.map { RedisCommand("HGETALL", keys.worker($0.id)) })
        return zip(ids, hashes).map {
            let fields = Self.fields($1).filter { $0.value.utf8.count <= StoredBounds.textBytes }
            return WorkerFacts(id: $0.id, seen: $0.seen, fields: fields)
        }
    }

    /// The workers that Redis lists, each with those of `batches` that it refuses.
    public func workers(refusing batches: [BatchID]) throws(StoreError) -> [WorkerFacts] {
        var workers = try workers()
        // One that has said all its refusals need not be asked.
        let silent = workers.indices.filter {
            (workers[$0].fields["refused"] ?? "").unicodeScalars.count >= WorkerFacts.mostRefusedText
        }
        guard !batches.isEmpty, !silent.isEmpty else { return workers }
        let words = batches.map { [UInt8]($0.description) }
        let values = try read(
            silent.map { place in
                RedisCommand(arguments: [[UInt8]("SMISMEMBER"), [UInt8](keys.refused(by: workers[place].id))] + words)
            }, ofAnotherType: .null)
        for (place, value) in zip(silent, values) {
            let refused = zip(batches, value.array ?? []).filter { $1.number == 1 }
            workers[place].refusedToo = Set(refused.map(\.0))
        }
        return workers
    }

    /// The webhooks that are due since `time` (ms since 1970) or later, the one that has been due for the longest time first, without
    /// the first `first` of them; the URL of a batch that is gone is "".
    public func dueWebhooks(since time: Int = 0, from first: Int = 0, atMost count: Int) throws(StoreError)
        -> [DueWebhook]
    {
        let command = RedisCommand(
            "ZRANGEBYSCORE", keys.webhooks, String(time), String(try self.time()), "WITHSCORES", "LIMIT", String(first),
            String(count))
        let list = try read(command).array ?? []
        let due = stride(from: 0, to: list.count - 1, by: 2).compactMap { at in
            list[at].string.flatMap { DueWebhook(member: $0, score: list[at + 1].number ?? 0, url: "") }
        }
        let urls = try read(
            due.map { RedisCommand("HGET", keys.batch($0.batch), "webhook") }, ofAnotherType: .null)
        return zip(due, urls).compactMap { DueWebhook(member: $0.member, score: $0.score, url: $1.string ?? "") }
    }

    /// The fields of a hash as HGETALL gives them; values that are no text are left out.
    private static func fields(_ value: RedisValue) -> [String: String] {
        let list = value.array ?? []
        var fields: [String: String] = [:]
        for at in stride(from: 0, to: list.count - 1, by: 2) {
            if let field = list[at].string, let text = list[at + 1].string { fields[field] = text }
        }
        return fields
    }
}
