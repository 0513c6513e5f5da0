/// A notice for the user during a feed.
package enum FeedNotice: Sendable, CustomStringConvertible {
    /// Redis is unreachable. The feeder tries again.
    case connectionLost(any Error)
    /// Redis answers again.
    case connectionRestored
    /// Redis has lost confirmed operations (a failover). The feeder reads the list again and feeds the missing operations.
    case readingAgain
    /// Another coordinator has sealed the batch meanwhile. The feeder reads the list again and compares it.
    case overtaken
    /// The list has more photos than the sealed batch. The feeder adds them.
    case growing(from: Int)
    /// Redis has no memory left. The feeder continues when Redis has free memory.
    case memoryFull(RedisMemory?)
    /// Redis has no memory left and no operation whose end would free some, so waiting does not help.
    case memoryStaysFull
    /// Redis accepts operations again.
    case memoryFreed
    /// Fewer replicas than wanted have confirmed the batch.
    case tooFewReplicas(ReplicaLack)
    /// The batch is fed, but the server keeps no append-only file: a restart of it loses the batch.
    case notPersistent

    package var description: String {
        switch self {
        case .connectionLost(let error): "feeding has stopped, trying again: \(error)"
        case .connectionRestored: "feeding goes on"
        case .readingAgain:
            "Redis has lost operations that it had confirmed; reading the list again to feed what is missing"
        case .overtaken:
            "another coordinator has fed and sealed the batch meanwhile; reading the list again to compare it"
        case .growing(let photos): "the list has grown: its photos from index \(photos) on are new"
        case .memoryFull(let memory):
            "Redis has no memory left" + (memory.map { " (\($0))" } ?? "")
                + ": waiting until workers have drained it, then feeding continues; to wait less, raise maxmemory, or "
                + "submit with a smaller --window, so that Redis holds fewer operations at once"
        case .memoryStaysFull:
            "Redis has no memory left, and no operation is queued or executing whose end would free some: raise maxmemory "
                + "there, or forget finished batches (darkroom forget); feeding then continues"
        case .memoryFreed: "Redis has memory again, feeding goes on"
        case .tooFewReplicas(let lack): "warning: \(lack)"
        case .notPersistent:
            "this Redis keeps no append-only file, so a restart of it loses the batch; set \"appendonly yes\" there"
        }
    }
}
