/// An update of a batch from ``DarkroomClient/follow(_:)``.
public enum BatchUpdate: Sendable, Equatable {
    /// The present facts in Redis. Sent at the beginning, whenever events may have been missed, and when the batch has finished.
    case facts(BatchFacts)
    /// The batch has changed. The next `facts`, or ``DarkroomClient/facts(of:)``, include the change.
    case event(BatchEvent)
    /// Redis is unreachable. The client tries again; `facts` follow when Redis is reachable, also if they are unchanged.
    case disconnected(DarkroomError)
    /// The batch is not in Redis any more. This is the last update.
    case forgotten
}
