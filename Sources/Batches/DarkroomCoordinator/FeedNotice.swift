import DarkroomModel

/// A notice for the user about a running feed.
package enum FeedNotice: Remediable {
    /// Redis is unreachable. The feeder retries.
    case connectionLost(any Error)
    /// Redis is reachable again.
    case connectionRestored
    /// A failover lost confirmed operations. The feeder reads the list again and feeds the missing operations.
    case readingAgain
    /// Another coordinator has sealed the batch. The feeder reads the list again and compares it with the batch.
    case overtaken
    /// The list contains more photos than the sealed batch. The feeder adds the new photos.
    case growing(from: Int)
    /// Redis is out of memory. The feeder continues when memory is free again.
    case memoryFull(RedisMemory?)
    /// Redis is out of memory, and no operation is left whose end would free memory, so waiting does not help.
    case memoryStaysFull
    /// Redis accepts operations again.
    case memoryFreed
    /// Fewer replicas than required have confirmed the batch.
    case tooFewReplicas(ReplicaLack)
    /// The batch is fed, but the server does not keep an append-only file, so a restart of Redis would lose the batch.
    case notPersistent

    package var problem: String {
        switch self {
        case .connectionLost(let error): "feeding has stopped, trying again: \(error)"
        case .connectionRestored: "feeding continues"
        case .readingAgain:
            "Redis has lost operations that it had confirmed; reading the list again to feed what is missing"
        case .overtaken:
            "another coordinator has fed and sealed the batch; reading the list again to compare it"
        case .growing(let photos): "the list has grown: its photos from index \(photos) on are new"
        case .memoryFull(let memory):
            "Redis has no memory left" + (memory.map { " (\($0))" } ?? "")
                + ": feeding continues when workers have finished operations; to wait less, raise maxmemory"
        case .memoryStaysFull:
            "Redis has no memory left, and no operation is left that would free some when it ends: raise maxmemory there, "
                + "and feeding continues"
        case .memoryFreed: "Redis has memory again, feeding continues"
        case .tooFewReplicas(let lack): "warning: \(lack.problem)"
        case .notPersistent:
            "this Redis does not keep an append-only file, so a restart would lose the batch; set \"appendonly yes\" there"
        }
    }

    package var remedies: [Remedy] {
        switch self {
        case .memoryFull: [.useSmallerWindow]
        case .memoryStaysFull: [.forgetFinished]
        case .tooFewReplicas(let lack): lack.remedies
        default: []
        }
    }
}
