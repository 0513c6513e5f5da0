import DarkroomModel
import DarkroomRedis

/// Finds batches whose counters contradict their queues.
extension BatchStore {
    /// A clause about each of these batches in which the counters contradict the queue. Every operation must be queued,
    /// executing or ended. Returns nothing if the Redis user may not read the sizes of the keys.
    func contradictions(in batches: [BatchFacts]) throws(StoreError) -> [BatchID: String] {
        var suspects = batches.filter { !$0.controls.isCancelled && $0.damage.isEmpty }.map(\.id)
        var found: [BatchID: String] = [:]
        // Workers may change a batch while its keys are read one after another. Therefore a contradiction counts only
        // if three readings in a row show it.
        for _ in 0..<3 where !suspects.isEmpty {
            do {
                found = try readContradictions(in: suspects)
            } catch {
                guard error.isOfPermissions else { throw error }
                return [:]
            }
            suspects = suspects.filter { found[$0] != nil }
        }
        return found
    }

    private func readContradictions(in ids: [BatchID]) throws(StoreError) -> [BatchID: String] {
        let values = try read(
            ids.flatMap { id in
                let counters = RedisCommand(
                    "HMGET", keys.batch(id), "operations", "operations.ended", "executing", "state")
                let sizes = [RedisCommand("ZCARD", keys.queue(id)), RedisCommand("HLEN", keys.executing(id))]
                return [counters] + sizes + [counters]
            }, ofAnotherType: .null)
        var found: [BatchID: String] = [:]
        for (position, id) in ids.enumerated() {
            let part = values[4 * position..<4 * position + 4].map { $0 }
            let (counters, after) = (part[0].array?.map(\.string) ?? [], part[3].array?.map(\.string) ?? [])
            guard counters == after, counters.count == 4, counters[3] != nil,
                let operations = counters[0].flatMap({ Int($0) }), let ended = counters[1].flatMap({ Int($0) }),
                let executing = counters[2].flatMap({ Int($0) }), let queued = part[1].number, let held = part[2].number
            else { continue }
            let missing = operations - ended - executing - queued
            if missing > 0 {
                found[id] = "\(HumanText.count(missing, of: "operation")) of \(operations) are in no queue"
            } else if missing < 0 || executing != held {
                found[id] = "its counters do not agree with its queue"
            }
        }
        return found
    }
}
