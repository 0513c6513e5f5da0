import Darkroom
import DarkroomRedis
import DarkroomStore

/// An operation that a worker holds according to Redis.
struct HeldOperationContent: Sendable {
    let held: HeldOperation
    let worker: String
    /// The number of photos that are not final, so that another worker must process them again.
    let unreported: Int
}

/// The holders of operations.
extension TortureCluster {
    /// All held operations of the batches of this cluster.
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

    /// The operations of a suspended or ended worker, after Redis has processed all commands that the worker has sent.
    func operations(heldBy worker: TortureWorker) throws -> [HeldOperationContent] {
        // Redis processes each command at the latest in the same event loop cycle as a later PING.
        for _ in 1...3 { _ = try store.connection.call(RedisCommand("PING")) }
        return try heldOperations().filter { worker.isCalled($0.worker) }
    }

    /// The fencing token of each operation's current claim, 0 for an ended operation, or nil for a queued operation.
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

    /// The maximum number of lease expiries of an operation that has not ended.
    func mostLeaseExpiries() throws -> Int {
        let replies = store.connection.call(batches.map { RedisCommand("HVALS", store.keys.leaseExpiries($0)) })
        return try replies.flatMap { try $0.get().array ?? [] }.compactMap(\.int).max() ?? 0
    }
}
