import Foundation

extension BatchFacts {
    /// When the batch was submitted (Redis time).
    public var submittedAt: Date { Date(milliseconds: submitted) }

    /// When the first operation of this round was claimed (Redis time); nil if no operation has been claimed.
    public var startedAt: Date? { started.map { Date(milliseconds: $0) } }

    /// When the batch finished (Redis time); nil if it has not finished.
    public var finishedAt: Date? { finished.map { Date(milliseconds: $0) } }

    /// The total duration of all rounds, excluding the pauses between them; nil until the batch has finished.
    public var duration: Duration? { finished.flatMap { seconds(now: $0) }.map { .seconds($0) } }
}

extension BatchEvent {
    /// When the event happened (Redis time).
    public var date: Date { Date(milliseconds: time) }
}

extension Date {
    /// - Parameter milliseconds: the time since 1970.
    init(milliseconds: Int) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
