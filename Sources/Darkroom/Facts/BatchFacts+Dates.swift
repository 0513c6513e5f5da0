import Foundation

extension BatchFacts {
    /// When the batch was submitted, by the clock of Redis.
    public var submittedAt: Date { Date(milliseconds: submitted) }

    /// When the first operation of this round was claimed, by the clock of Redis; nil before that.
    public var startedAt: Date? { started.map { Date(milliseconds: $0) } }

    /// When the batch finished, by the clock of Redis; nil before that.
    public var finishedAt: Date? { finished.map { Date(milliseconds: $0) } }

    /// The time of all rounds of the batch, without the pauses between them; nil until the batch has finished.
    public var duration: Duration? { finished.flatMap { seconds(now: $0) }.map { .seconds($0) } }
}

extension BatchEvent {
    /// The time of the event, by the clock of Redis.
    public var date: Date { Date(milliseconds: time) }
}

extension Date {
    /// - Parameter milliseconds: since 1970.
    init(milliseconds: Int) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
