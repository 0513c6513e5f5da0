/// Where a batch stands. Two flags stand beside it: suspended and cancelled.
public enum BatchState: String, Sendable, Codable {
    /// Another batch must finish first.
    case waiting
    /// Nothing of it was claimed yet in this round.
    case ready
    /// From the first claim until it is finished.
    case executing
    /// Nothing of it will run any more, unless failed photos are run again.
    case finished
}
