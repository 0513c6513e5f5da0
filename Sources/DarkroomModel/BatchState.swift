/// The state of a batch. Whether it is suspended or cancelled is in ``BatchControls``.
public enum BatchState: String, Sendable, Codable {
    /// The batch waits for other batches.
    case waiting
    /// No operation of this round was claimed yet.
    case ready
    /// An operation of this round was claimed.
    case executing
    /// All photos are final. Only a retry or a list that has grown starts a new round.
    case finished
}
