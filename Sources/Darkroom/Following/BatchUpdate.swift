/// What ``DarkroomClient/follow(_:)`` reports of a batch.
public enum BatchUpdate: Sendable, Equatable {
    /// The facts as Redis has them now. It comes first, whenever events may have been missed, and last when the batch has finished.
    case facts(BatchFacts)
    /// The batch has changed. What it means for the facts is in the next `facts`, or in ``DarkroomClient/facts(of:)``.
    case event(BatchEvent)
    /// Redis cannot be reached. The client tries again; `facts` comes when Redis is back.
    case disconnected(DarkroomError)
    /// The batch is not in Redis any more. Nothing comes after it.
    case forgotten
}
