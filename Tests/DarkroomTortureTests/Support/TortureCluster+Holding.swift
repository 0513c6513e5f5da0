import Darkroom
import DarkroomRedis
import DarkroomStore

/// An operation that Redis says a worker holds.
struct HeldOperationContent: Sendable {
    let held: HeldOperation
    let worker: String
    /// How many of its photos are not final: what Redis was not told of them, another worker has to do again.
    let unreported: Int
}

/// Who holds what.
extension TortureCluster {
    /// What is held of the batches that were submitted here.
    func heldOperations() throws -> [HeldOperationContent] {
        let batches = batches
        let commands = batches.flatMap { id in
            [RedisCommand("HGETALL", store.keys.executing(id)), RedisCommand("GET", store.keys.states(id))]
        }
        guard !commands.isEmpty else { return [] }
        let replies = try store.connection.call(commands).map { try $0.get() }
        var found: [HeldOperationContent] = []
        for (position, id) in batches.enumerated() {
            let size = try submission(of: id).operationSize
            let stateCodes = replies[2 * position + 1].bytes ?? []
            let fields = replies[2 * position].array ?? []
            for at in stride(from: 0, to: fields.count - 1, by: 2) {
                let words = (fields[at + 1].string ?? "").split(separator: " ")
                guard let number = fields[at].string.flatMap({ Int($0) }), words.count >= 4,
                    let fencingToken = Int(words[1])
                else { throw TortureFailure("batch \(id): executing has \(fields[at]) \(fields[at + 1])") }
                let own = stateCodes[min((number - 1) * size, stateCodes.count)..<min(number * size, stateCodes.count)]
                found.append(
                    HeldOperationContent(
                        held: HeldOperation(batch: id, number: number, fencingToken: fencingToken),
                        worker: String(words[0]),
                        unreported: own.count { $0 == UInt8(ascii: "N") || $0 == UInt8(ascii: "D") }))
            }
        }
        return found
    }

    /// What a worker holds, which stands still or has ended: all that it has sent is in what is read.
    func operations(heldBy worker: TortureWorker) throws -> [HeldOperationContent] {
        // Redis takes what it was sent before a ping in the round of the ping's own, or before.
        for _ in 1...3 { _ = try store.connection.call(RedisCommand("PING")) }
        return try heldOperations().filter { worker.isCalled($0.worker) }
    }

    /// Who holds each of these operations now: the fence of its claim; 0 when it has ended, nil when it waits to be claimed.
    func holders(of operations: [HeldOperation]) throws -> [Int?] {
        let commands = operations.flatMap { held in
            [
                RedisCommand("HGET", store.keys.executing(held.batch), String(held.number)),
                RedisCommand("ZSCORE", store.keys.queue(held.batch), String(held.number)),
            ]
        }
        guard !commands.isEmpty else { return [] }
        let replies = try store.connection.call(commands).map { try $0.get() }
        return operations.indices.map { position in
            if let holder = replies[2 * position].string {
                return holder.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            }
            return replies[2 * position + 1] == .null ? 0 : nil
        }
    }

    /// The most leases of one operation that have expired, of those that have not ended.
    func mostDeaths() throws -> Int {
        let replies = store.connection.call(batches.map { RedisCommand("HVALS", store.keys.leaseExpiries($0)) })
        return try replies.flatMap { try $0.get().array ?? [] }.compactMap(\.int).max() ?? 0
    }
}
