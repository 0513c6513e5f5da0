/// Where a batch is. ``BatchControls`` says besides whether it is suspended or cancelled.
public enum BatchState: String, Sendable, Codable {
    /// It waits until other batches have finished.
    case waiting
    /// No operation of this round was claimed yet.
    case ready
    /// An operation of this round was claimed.
    case executing
    /// Nothing of it runs any more, unless failed photos are retried.
    case finished
}
