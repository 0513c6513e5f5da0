import DarkroomModel
import DarkroomRedis

extension BatchStore {
    /// The Redis time, in milliseconds since 1970.
    package func time() throws(StoreError) -> Int {
        let value = try read(RedisCommand("TIME"))
        guard let parts = value.array, parts.count == 2, let seconds = parts[0].number, let micros = parts[1].number
        else {
            throw .unexpectedReply(value, of: "TIME")
        }
        return seconds * 1000 + micros / 1000
    }

    /// The number of bytes that Redis uses for its data, and the largest number that it may use (`maxmemory`; 0 for no
    /// limit), see INFO.
    package func memory() throws(StoreError) -> (used: Int, limit: Int) {
        let value = try read(RedisCommand("INFO", "memory"))
        let information = ServerInformation(value.string ?? "")
        guard let used = information.int("used_memory"), let limit = information.int("maxmemory") else {
            throw .unexpectedReply(value, of: "INFO")
        }
        return (used, limit)
    }

    package func clusterControls() throws(StoreError) -> ClusterControls {
        let names = [
            "suspended", "downloads.suspended", "filtrations.suspended", "downloads.limit", "filtrations.limit",
        ]
        let words = ["HMGET", keys.control] + names
        let values = try read(RedisCommand(words)).array ?? []
        guard values.count == names.count else { throw .unexpectedReply(.array(values), of: "HMGET") }
        var cluster = ClusterControls()
        cluster.isSuspended = values[0].string == "1"
        cluster.areDownloadsSuspended = values[1].string == "1"
        cluster.areFiltrationsSuspended = values[2].string == "1"
        cluster.downloads = ClusterControls.limit(values[3].int, ClusterControls.downloadLimits)
        cluster.filtrations = ClusterControls.limit(values[4].int, ClusterControls.filtrationLimits)
        return cluster
    }

    /// The workers that sent a claim or heartbeat within the last hour, the latest first, at most 10,000.
    /// - Parameter known: workers that were read before, see ``BatchProblems/settledWorkers``. If such a worker has sent no
    ///   claim or heartbeat since then, its known facts are returned, and Redis is not asked for them.
    package func workers(knowing known: [WorkerFacts] = []) throws(StoreError) -> [WorkerFacts] {
        let list = try read(RedisCommand("ZREVRANGE", keys.workers, "0", "9999", "WITHSCORES")).array ?? []
        let ids = stride(from: 0, to: list.count - 1, by: 2).compactMap { at in
            list[at].string.map { (id: $0, seen: list[at + 1].number ?? 0) }
        }
        let known = Dictionary(known.map { ($0.id, $0) }) { first, _ in first }
        let changed = ids.filter { known[$0.id]?.seen != $0.seen }.map(\.id)
        // A worker whose key has a wrong type has no facts.
        let hashes = try read(changed.map { RedisCommand("HGETALL", keys.worker($0)) }, ofAnotherType: .null)
        let read = Dictionary(zip(changed, hashes)) { first, _ in first }
        return ids.compactMap { id, seen in
            guard let hash = read[id] else { return known[id] }
            // A character of `refused` has at most four bytes.
            let fields = Self.fields(hash).filter { $0.value.utf8.count <= 4 * WorkerFacts.mostRefusedText }
            return WorkerFacts(id: id, seen: seen, fields: fields)
        }
    }

    /// The workers that Redis lists. The facts of each worker contain its refusals of `batches`.
    /// - Parameter known: workers that were read before and need not be read again unless they have sent a message, see
    ///   ``workers(knowing:)``.
    package func workers(
        refusing batches: [BatchID], knowing known: [WorkerFacts]
    ) throws(StoreError) -> [WorkerFacts] {
        var workers = try workers(knowing: known)
        for place in workers.indices { workers[place].refusedToo = [] }
        // Workers whose fact `refused` may be truncated. The facts of the other workers contain all their refusals.
        let silent = workers.indices.filter {
            let refused = workers[$0].fields["refused"] ?? ""
            return refused.utf8.count >= WorkerFacts.mostRefusedText
                && refused.unicodeScalars.count >= WorkerFacts.mostRefusedText
        }
        guard !batches.isEmpty, !silent.isEmpty else { return workers }
        let words = batches.map(\.description)
        let values = try read(
            silent.map { place in
                RedisCommand(["SMISMEMBER", keys.refused(by: workers[place].id)] + words)
            }, ofAnotherType: .null)
        for (place, value) in zip(silent, values) {
            let refused = zip(batches, value.array ?? []).filter { $1.number == 1 }
            workers[place].refusedToo = Set(refused.map(\.0))
        }
        return workers
    }

    /// The webhooks that became due at `time` (milliseconds since 1970) or later, the oldest first. Skips the first
    /// `first` of these webhooks and returns at most `count`. The URL of a webhook is "" if its batch no longer exists.
    package func dueWebhooks(since time: Int = 0, from first: Int = 0, atMost count: Int) throws(StoreError)
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
}
