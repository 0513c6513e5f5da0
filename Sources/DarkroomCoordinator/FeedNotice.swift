/// What a feeder's user may want to know while it goes on.
package enum FeedNotice: Sendable, CustomStringConvertible {
    /// Redis does not answer; the feeder tries again.
    case connectionLost(any Error)
    /// Redis answers again.
    case connectionRestored
    /// Redis has lost what it had confirmed (a failover); the list is read again and what is missing fed again.
    case readingAgain
    /// Somebody else has fed the batch to its end meanwhile; the list is read again to be compared with it.
    case overtaken
    /// The list has photos behind those that it had when it was fed to its end; they are fed, too.
    case growing(from: Int)
    /// Redis takes nothing more because it has no memory left; the feeder goes on as soon as there is some.
    case memoryFull(RedisMemory?)
    /// Redis has no memory left and no operation that workers could end: it does not get better by waiting.
    case memoryStaysFull
    /// Redis takes operations again.
    case memoryFreed
    /// Fewer replicas than asked for have confirmed the batch.
    case tooFewReplicas(ReplicaLack)
    /// All is fed, but the server keeps no append-only file: its restart loses the batch.
    case notPersistent

    /// A sentence for users.
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
                + ": waiting until workers have drained it, then it goes on by itself; to wait less, raise maxmemory there, or "
                + "submit with a smaller --window, so that fewer operations are in it at once"
        case .memoryStaysFull:
            "Redis has no memory left, and no operation is queued or executing whose end would free some: raise maxmemory "
                + "there, or forget finished batches (darkroom forget); feeding goes on by itself then"
        case .memoryFreed: "Redis has memory again, feeding goes on"
        case .tooFewReplicas(let lack): "warning: \(lack)"
        case .notPersistent:
            "this Redis keeps no append-only file, so a restart of it loses the batch; set \"appendonly yes\" there"
        }
    }
}
