import DarkroomModel
import DarkroomRedis

/// Reads the values that the script of a submission checks.
extension BatchStore {
    /// The newest batch with this name; nil if there is none.
    package func holder(ofName name: String) throws(StoreError) -> BatchFacts? { try holder(keys.names, name) }

    /// The batch that took an output folder last; nil if there is none.
    package func holder(ofOutput path: String) throws(StoreError) -> BatchFacts? { try holder(keys.outputs, path) }

    /// The number that ``identify()`` gave the namespace; nil if the namespace has no number yet.
    package func identity() throws(StoreError) -> Int? {
        try read(RedisCommand("HGET", keys.control, "id")).number
    }

    private func holder(_ key: String, _ field: String) throws(StoreError) -> BatchFacts? {
        guard let id = try read(RedisCommand("HGET", key, field)).batch else { return nil }
        return try facts(of: id)
    }
}
