import DarkroomModel
import DarkroomRedis

extension BatchStore {
    /// The state codes of the photos in `range` (indexes from 0). The result is shorter if the batch has fewer photos.
    package func stateCodes(of id: BatchID, in range: Range<Int>) throws(StoreError) -> [UInt8] {
        guard !range.isEmpty else { return [] }
        let command = RedisCommand("GETRANGE", keys.states(id), String(range.lowerBound), String(range.upperBound - 1))
        return try read(command).bytes ?? []
    }

    /// The entries of operations; nil for each operation whose entry Redis no longer has. Callers should read about ten
    /// at a time, because an entry may be as large as 1 MiB.
    package func entries(of id: BatchID, operations numbers: [Int]) throws(StoreError) -> [[UInt8]?] {
        try values(keys.operations(id), numbers).map(\.bytes)
    }

    /// The stored failures of photos, at most 10,000, ordered by index.
    package func failures(of id: BatchID) throws(StoreError) -> [(index: Int, json: String)] {
        Self.fields(try read(RedisCommand("HGETALL", keys.failures(id)))).compactMap { index, json in
            Int(index).flatMap { StoredBounds.indexes.contains($0) ? ($0, json) : nil }
        }.sorted { $0.index < $1.index }
    }

    /// The operations with the numbers in `range`, which must contain at most 1,000 numbers.
    package func operations(of batch: BatchFacts, in range: ClosedRange<Int>) throws(StoreError) -> [OperationFacts] {
        let numbers = Array(range.clamped(to: 1...max(1, batch.operations))).filter { $0 <= batch.operations }
        guard let first = numbers.first, let last = numbers.last else { return [] }
        let size = batch.options.operationSize
        let texts = numbers.map(String.init)
        func command(_ name: String, _ key: String) -> RedisCommand {
            RedisCommand([name, key] + texts)
        }
        let values = try read([
            command("ZMSCORE", keys.queue(batch.id)), command("HMGET", keys.executing(batch.id)),
            command("HMGET", keys.leaseExpiries(batch.id)),
            RedisCommand("GETRANGE", keys.states(batch.id), String((first - 1) * size), String(last * size - 1)),
        ])
        guard let queued = values[0].array, let holders = values[1].array, let leaseExpiries = values[2].array,
            let stateCodes = values[3].bytes
        else { throw .unexpectedReply(.array(values), of: "operations") }
        return numbers.enumerated().map { position, number in
            let holder = holders[position].string
            // An operation of a cancelled batch never runs, even if it is still in the queue.
            let isQueued = queued[position] != .null && !batch.cancelled
            let start = min(position * size, stateCodes.count)
            return OperationFacts(
                number: number, state: holder != nil ? .executing : isQueued ? .queued : .ended,
                worker: holder?.split(separator: " ").first.map(String.init),
                leaseExpiries: leaseExpiries[position].number ?? 0,
                stateCodes: Array(stateCodes[start..<min(start + size, stateCodes.count)]))
        }
    }

    /// The number of expired leases of each operation.
    package func leaseExpiries(
        of operations: [(batch: BatchID, number: Int)]
    ) throws(StoreError) -> [Int] {
        let commands = operations.map {
            RedisCommand("HGET", keys.leaseExpiries($0.batch), String($0.number))
        }
        return try read(commands, ofAnotherType: .null).map { value in
            value.number.flatMap { StoredBounds.photos.contains($0) ? $0 : nil } ?? 0
        }
    }

    /// The failures of the photos with these indexes, as JSON; nil for a photo without a stored failure.
    package func failures(of id: BatchID, indexes: [Int]) throws(StoreError) -> [String?] {
        try values(keys.failures(id), indexes).map(\.string)
    }

    /// The values of fields of a hash.
    private func values(_ key: String, _ fields: [Int]) throws(StoreError) -> [RedisValue] {
        fields.isEmpty ? [] : try read(RedisCommand(["HMGET", key] + fields.map(String.init))).array ?? []
    }
}
