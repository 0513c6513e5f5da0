import DarkroomModel
import DarkroomRedis

/// Reading what is kept of failed photos.
extension BatchStore {
    /// What is kept of the failed photos with these indexes, as JSON: nil for one of which nothing is kept (yet).
    public func failures(of id: BatchID, indexes: [Int]) throws(StoreError) -> [String?] {
        guard !indexes.isEmpty else { return [] }
        let words = ["HMGET", keys.failures(id)] + indexes.map(String.init)
        let values = try read(RedisCommand(arguments: words.map { [UInt8]($0) })).array ?? []
        return values.map(\.string)
    }
}
