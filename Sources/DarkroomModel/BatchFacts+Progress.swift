/// The progress of a batch, its rate and its remaining time.
extension BatchFacts {
    /// Photos that were downloaded, whatever their result.
    package var downloads: Int {
        let later = failures.reduce(0) { $0 + ($1.key.isOfDownload ? 0 : $1.value) }
        return min(photos, counts.downloaded + counts.filtered + later)
    }

    /// True if the batch has neither finished nor been cancelled.
    public var isOpen: Bool { state != .finished && !cancelled }

    /// How long it has been executed: all its rounds, the last one until it finished, or until `now` in ms of the Redis
    /// clock. The time between the end of a round and the retry that began the next one does not count.
    package func seconds(now: Int) -> Double? {
        guard started != nil || spent > 0 else { return nil }
        let current = started.map { max(0, (finished ?? now) - $0) } ?? 0
        return Double(spent + current) / 1000
    }

    /// Photos filtered or failed per second, averaged over ``seconds(now:)``; nil before the batch has started.
    package func photosPerSecond(now: Int) -> Double? {
        guard let seconds = seconds(now: now), seconds > 0 else { return nil }
        return Double(counts.done) / seconds
    }

    /// The time in seconds until the batch finishes at `rate` photos per second. Nil if it is unknown: the list is still being
    /// fed, no photo is left, `rate` is nil or 0, or one of `problems` affects the batch.
    package func secondsLeft(at rate: Double?, problems: [BatchProblem]) -> Double? {
        let left = photos - counts.final
        let isHindered = problems.contains { $0.batch == nil || $0.batch == id }
        guard sealed, isOpen, !isHindered, left > 0, let rate, rate > 0 else { return nil }
        return Double(left) / rate
    }

    /// The reasons and their counts, the most frequent first.
    package var failuresByCount: [(reason: FailureReason, count: Int)] {
        failures.filter { $0.value > 0 }.map { (reason: $0.key, count: $0.value) }
            .sorted { ($1.count, $0.reason.word) < ($0.count, $1.reason.word) }
    }

    /// The id, and the name if there is one.
    package var label: String {
        options.name.isEmpty ? id.description : "\(id) \"\(HumanText.safe(options.name))\""
    }
}
