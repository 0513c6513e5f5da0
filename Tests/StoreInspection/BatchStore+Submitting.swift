import DarkroomModel
import DarkroomRedis
import DarkroomStore
import Testing

extension BatchStore {
    /// The id of a new batch that is submitted later than all batches of this namespace, by the clock of Redis. Batches of
    /// the same millisecond are sorted by the random digits of their ids, so tests could not rely on their order.
    package func newBatchID() throws -> BatchID {
        let newest = try connection.call(.init("ZREVRANGE", keys.batches, "0", "0", "WITHSCORES")).array?.last?.string
        while true {
            let now = try time()
            if now > newest.flatMap({ Int($0) }) ?? 0 { return BatchID(submittedAt: now) }
        }
    }

    /// Submits a batch, feeds `urls` to it as a coordinator does, and seals it.
    /// - Parameter name: Returns the name of the photo with this index and URL.
    package func submitBatch(
        _ id: BatchID, _ options: BatchOptions, urls: [String], overwrite: Bool = true, seal: Bool = true,
        name: (_ index: Int, _ url: String) -> String = { index, _ in "photo \(index)" }
    ) throws {
        _ = try perform(submit(id, options, overwrite: overwrite))
        let size = options.operationSize
        let feeds = stride(from: 0, to: urls.count, by: size).enumerated().map { position, start in
            let indexes = start..<min(start + size, urls.count)
            var entry = OperationEntry(operationSize: size)
            for index in indexes {
                ListEntry.with(name: name(index, urls[index]), url: urls[index]) { entry.append($0) }
            }
            return feed(id, operation: position + 1, photos: indexes.count, entry: entry.packed(), digest: "")
        }
        #expect(try perform(feeds).allSatisfy { $0 == .fed })
        if seal { #expect(try perform(self.seal(id, operations: feeds.count, photos: urls.count)) == .sealed) }
    }
}
