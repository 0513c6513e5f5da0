/// An update of a batch from ``DarkroomClient/follow(_:)``.
public enum BatchUpdate: Sendable, Equatable {
    /// The current facts. Sent at the beginning, whenever events may have been missed, and when the batch has finished.
    case facts(BatchFacts)
    /// The batch has changed. The next `facts`, and ``DarkroomClient/facts(of:)``, include the change.
    case event(BatchEvent)
    /// Redis is unreachable. The client retries, and sends `facts` when Redis is reachable again.
    case disconnected(DarkroomError)
    /// The batch is no longer in Redis. This is the last update.
    case forgotten
}
