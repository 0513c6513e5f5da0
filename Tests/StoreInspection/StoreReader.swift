import DarkroomModel
import DarkroomRedis
import DarkroomStore

/// Reads a whole namespace of Redis with one read-only script: a consistent state that includes unexpected keys. Keys
/// that are unchanged since the last read are not parsed again.
final class StoreReader {
    private let store: BatchStore
    private var raw: [String: String] = [:]
    /// The keys that contain state codes, which may not be text. In `raw`, each byte is a character.
    private static let keysOfStateCodes: Set = ["states", "reasons"]
    private var apart: [String: [(String, String)]] = [:]
    private var batches: [BatchID: BatchContent] = [:]

    init(_ store: BatchStore) { self.store = store }

    /// Every key and its content as lines. A field and its value, or a member and its score, have a line each.
    private static let dump = """
        local found = {}
        for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
            local kind, content = redis.call('TYPE', key).ok, {'?'}
            if kind == 'string' then content = {redis.call('GET', key)}
            elseif kind == 'hash' then content = redis.call('HGETALL', key)
            elseif kind == 'set' then content = redis.call('SMEMBERS', key)
            elseif kind == 'zset' then content = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES') end
            found[#found + 1] = key
            found[#found + 1] = table.concat(content, '\\n')
        end
        return found
        """

    /// The current state.
    func read() throws -> StoreState {
        let reply = try store.connection.call(RedisCommand("EVAL", Self.dump, "0", store.keys.prefix + "*")).array ?? []
        var current: [String: String] = [:]
        for at in stride(from: 0, to: reply.count, by: 2) {
            if let key = reply[at].string, let content = reply[at + 1].bytes {
                let key = String(key.dropFirst(store.keys.prefix.count))
                let isCodes = key.hasPrefix("batch:") && Self.keysOfStateCodes.contains { key.hasSuffix(":\($0)") }
                current[key] =
                    isCodes ? PhotoState.text(ofStateCodes: content) : String(decoding: content, as: UTF8.self)
            }
        }
        var state = StoreState()
        let changed = Set(current.keys).union(raw.keys).filter { current[$0] != raw[$0] }
        for key in changed { apart[key] = nil }
        for key in changed where raw[key] == nil && !Self.isKnown(key) { state.problems.append("unknown key \(key)") }
        raw = current
        for id in Set(changed.compactMap(Self.batch)) { batches[id] = batch(id, &state.problems) }
        state.batches = batches
        readGlobals(into: &state)
        return state
    }

    private static let batchKeys: Set = [
        "states", "operations", "queue", "executing", "lease.expiries", "retries", "failures", "reasons",
        "dependencies",
        "dependents",
    ]
    private static let globalKeys =
        Set([
            "control", "batches", "open", "leases", "deferred", "workers", "outputs", "names", "expiring", "releases",
            "webhooks",
            "forgotten", "stale.files", "totals", "history", "repair", "repair.wanted", "repair.round", "repair.states",
        ])
        .union(BatchPriority.allCases.map { "ready:\($0.rawValue)" })

    private static func isKnown(_ key: String) -> Bool {
        let parts = key.split(separator: ":").map(String.init)
        switch parts.first {
        case "batch": return parts.count == 2 || parts.count == 3 && batchKeys.contains(parts[2])
        case "host": return parts.count >= 2
        case "worker": return parts.count == 2 || parts.count == 3 && parts[2] == "refused"
        default: return globalKeys.contains(key)
        }
    }

    private static func batch(of key: String) -> BatchID? {
        let parts = key.split(separator: ":")
        return parts.first == "batch" && parts.count > 1 ? BatchID(String(parts[1])) : nil
    }

    /// The fields and values, or members and scores, of a key.
    private func pairs(_ key: String) -> [(String, String)] {
        if let known = apart[key] { return known }
        let lines = (raw[key] ?? "").split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let pairs = stride(from: 0, to: lines.count - 1, by: 2).map { (lines[$0], lines[$0 + 1]) }
        apart[key] = pairs
        return pairs
    }

    /// The members of a set of batches.
    private func members(_ key: String) -> [BatchID] {
        (raw[key] ?? "").split(separator: "\n").compactMap { BatchID(String($0)) }
    }

    /// A hash or a sorted set with integers as values.
    private func integers(_ key: String, _ problems: inout [String]) -> [String: Int] {
        var values: [String: Int] = [:]
        for (member, text) in pairs(key) {
            guard let value = Int(text) else {
                problems.append("\(key): \(member) has \(text)")
                continue
            }
            values[member] = value
        }
        return values
    }

    private func batch(_ id: BatchID, _ problems: inout [String]) -> BatchContent? {
        let key = "batch:\(id)"
        guard raw.keys.contains(where: { $0 == key || $0.hasPrefix(key + ":") }) else { return nil }
        var fields = Dictionary(pairs(key)) { first, _ in first }
        func take(_ field: String) -> String { fields.removeValue(forKey: field) ?? "" }
        func int(_ field: String) -> Int {
            let text = take(field)
            guard let value = Int(text) else {
                problems.append("\(key): \(field) is \"\(text)\"")
                return -1
            }
            return value
        }
        func time(_ field: String) -> Int? {
            if fields[field] == "" { fields[field] = nil } else { return int(field) }
            return nil
        }
        func flag(_ field: String) -> Bool {
            let text = take(field)
            if !["", "0", "1"].contains(text) { problems.append("\(key): \(field) is \"\(text)\"") }
            return text == "1"
        }
        var content = BatchContent()
        content.size = int("size")
        content.window = int("window")
        content.lease = int("lease")
        content.retain = int("retain")
        content.priority = BatchPriority(rawValue: take("priority")) ?? .normal
        content.output = take("output")
        content.afterSuccess = take("after.success") == "1"
        content.originals = take("originals")
        content.webhook = take("webhook")
        if fields["webhook.attempts"] != nil { content.attempts = int("webhook.attempts") }
        content.round = int("round")
        for part in QueuePart.allCases where flag(part == .everything ? "flag.suspended" : "flag.\(part).suspended") {
            content.suspended.insert(part)
        }
        content.isCancelled = flag("flag.cancelled")
        content.reason = take("cancelled.reason")
        let first = take("focus.first")
        let last = take("focus.last")
        let only = flag("focus.only")
        if let first = Int(first), let last = Int(last), first <= last {
            content.focus = BatchControls.Focus(first...last, only: only)
        } else if !first.isEmpty || !last.isEmpty || only {
            problems.append("\(key): the focus is \"\(first)\" to \"\(last)\", only \(only)")
        }
        content.dependencies = Set(members(key + ":dependencies"))
        content.dependents.order = members(key + ":dependents")
        content.state = BatchState(rawValue: take("state"))
        content.sealed = int("sealed") == 1
        content.digest = take("feed.digest")
        content.submitted = int("submitted")
        content.started = time("started")
        content.finished = time("finished")
        if fields["spent"] != nil { content.spent = int("spent") }
        content.feederSeen = int("feeder.seen")
        content.bytesIn = int("bytes.in")
        content.bytesOut = int("bytes.out")
        content.operations = int("operations")
        content.counters = BatchCounters(
            photos: int("photos"), ended: int("operations.ended"), kept: int("operations.kept"),
            executing: int("executing"), downloaded: int("count.downloaded"), filtered: int("count.filtered"),
            failed: int("count.failed"), cancelled: int("count.cancelled"))
        content.settings = fields
        content.stateCodes = (raw[key + ":states"] ?? "").unicodeScalars.map { UInt8($0.value) }
        content.entries = numbered(pairs(key + ":operations")) { $0 }
        for (member, score) in pairs(key + ":queue") {
            content.queue.insert(Int(member) ?? -1)
            if let due = Int(score).map({ $0 - Keys.deferredScore }), due >= 0 {
                content.deferred[Int(member) ?? -1] = due
            } else if member != score {
                problems.append("\(key):queue: \(member) has the score \(score)")
            }
        }
        content.executing = numbered(pairs(key + ":executing")) { text in
            let words = text.split(separator: " ")
            guard words.count == 4 || words.count == 5 && words[4] == "begun", let fencingToken = Int(words[1]),
                let bytesIn = Int(words[2]), let bytesOut = Int(words[3])
            else { return Holder(worker: "unreadable: \(text)", fencingToken: -1) }
            return Holder(
                worker: String(words[0]), fencingToken: fencingToken, bytesIn: bytesIn, bytesOut: bytesOut,
                begun: words.count == 5)
        }
        content.leaseExpiries = numbered(pairs(key + ":lease.expiries")) { Int($0) ?? -1 }
        content.retries = numbered(pairs(key + ":retries")) { $0 }
        content.failures = numbered(pairs(key + ":failures")) { $0 }
        for (stateCode, count) in pairs(key + ":reasons") {
            content.reasons[stateCode.unicodeScalars.first.map { UInt8($0.value) } ?? 0] = Int(count) ?? -1
        }
        return content
    }

    private func numbered<Value>(_ pairs: [(String, String)], _ value: (String) -> Value) -> [Int: Value] {
        pairs.reduce(into: [:]) { $0[Int($1.0) ?? -1] = value($1.1) }
    }

    private func readGlobals(into state: inout StoreState) {
        var control: [String: Int] = [:]
        for (field, text) in pairs("control") where !text.isEmpty {
            guard let value = Int(text) else {
                state.problems.append("control: \(field) is \"\(text)\"")
                continue
            }
            control[field] = value
        }
        state.version = control["version"] ?? 0
        state.dependencies = control["dependencies"] ?? 0
        state.cluster.isSuspended = control["suspended"] == 1
        state.cluster.areDownloadsSuspended = control["downloads.suspended"] == 1
        state.cluster.areFiltrationsSuspended = control["filtrations.suspended"] == 1
        state.cluster.downloads = control["downloads.limit"]
        state.cluster.filtrations = control["filtrations.limit"]
        state.seen = control["seen"]
        state.leaseClock = control["lease.clock"] ?? 0
        state.retentionClock = control["retention.clock"] ?? 0
        state.claims = control["claims"] ?? 0
        state.turn = control["turn"] ?? 0
        state.entered = control["entered"] ?? 0
        state.taken = control["taken"] ?? 0
        state.sampled = control["history.sampled"]
        state.totals = integers("totals", &state.problems)
        for (sample, time) in integers("history", &state.problems) { state.history[time] = sample }
        state.submissions = byBatch("batches", &state.problems)
        state.open = byBatch("open", &state.problems)
        state.expiring = byBatch("expiring", &state.problems)
        state.forgotten = byBatch("forgotten", &state.problems)
        state.releases = byBatch("releases", &state.problems)
        state.webhooks = integers("webhooks", &state.problems)
        state.staleFiles = integers("stale.files", &state.problems)
        for priority in BatchPriority.allCases {
            let readyQueue = byBatch("ready:\(priority.rawValue)", &state.problems)
            if !readyQueue.isEmpty { state.readyQueues[priority] = ReadyQueue(turns: readyQueue) }
        }
        for (member, deadline) in integers("leases", &state.problems) {
            state.leases[Self.operation(member)] = deadline
        }
        state.deferred = byBatch("deferred", &state.problems)
        state.workers = integers("workers", &state.problems)
        for key in raw.keys where key.hasPrefix("worker:") {
            let name = String(key.dropFirst("worker:".count))
            if name.hasSuffix(":refused") {
                let members = (raw[key] ?? "").split(separator: "\n").compactMap { BatchID(String($0)) }
                state.refusals[String(name.dropLast(":refused".count))] = Set(members)
                continue
            }
            var fields = Dictionary(pairs(key)) { first, _ in first }
            var worker = WorkerContent()
            worker.claim = fields.removeValue(forKey: "claim.number").flatMap { Int($0) }
            let words = (fields.removeValue(forKey: "claim.answer") ?? "").split(separator: " ").map(String.init)
            worker.fencingToken = words.first.flatMap { Int($0) }
            for at in stride(from: 1, to: words.count - 1, by: 2) {
                worker.claimed.append(
                    OperationID(batch: BatchID(words[at]) ?? "invalid", number: Int(words[at + 1]) ?? -1))
            }
            worker.facts = fields
            state.workerHashes[name] = worker
        }
        for (folder, id) in pairs("outputs") { state.outputs[folder] = BatchID(id) }
        for (name, id) in pairs("names") { state.names[name] = BatchID(id) }
    }

    private func byBatch(_ key: String, _ problems: inout [String]) -> [BatchID: Int] {
        integers(key, &problems).reduce(into: [:]) { $0[BatchID($1.key) ?? "invalid"] = $1.value }
    }

    private static func operation(_ member: String) -> OperationID {
        let parts = member.split(separator: "/")
        return OperationID(
            batch: BatchID(String(parts.first ?? "")) ?? "invalid", number: parts.last.flatMap { Int($0) } ?? -1)
    }
}
