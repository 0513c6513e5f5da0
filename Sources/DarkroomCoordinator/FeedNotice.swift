/// What a feeder's user may want to know while it goes on.
public enum FeedNotice: Sendable, CustomStringConvertible {
    /// Redis does not answer; the feeder tries again.
    case connectionLost(any Error)
    /// Redis answers again.
    case connectionRestored
    /// Redis has lost what it had confirmed (a failover); the list is read again and what is missing fed again.
    case readingAgain
    /// All is fed, but the server keeps no append-only file: its restart loses the batch.
    case notPersistent

    /// A sentence for users.
    public var description: String {
        switch self {
        case .connectionLost(let error): "feeding has stopped, trying again: \(error)"
        case .connectionRestored: "feeding goes on"
        case .readingAgain:
            "Redis has lost operations that it had confirmed; reading the list again to feed what is missing"
        case .notPersistent:
            "this Redis keeps no append-only file, so a restart of it loses the batch; set \"appendonly yes\" there"
        }
    }
}
