/// The state of a batch. Suspension and cancellation are not states: see ``BatchControls``.
public enum BatchState: String, Sendable, Codable {
    /// The batch waits for other batches.
    case waiting
    /// No operation of this round has been claimed yet.
    case ready
    /// At least one operation of this round has been claimed.
    case executing
    /// All photos are final. Only a retry, or a list that has grown, starts a new round.
    case finished
}
