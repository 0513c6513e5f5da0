/// The progress of a batch, its rate and its remaining time.
extension BatchFacts {
    /// The number of downloaded photos, including those that were filtered or failed after their download.
    package var downloads: Int {
        let later = failures.reduce(0) { $0 + ($1.key.isOfDownload ? 0 : $1.value) }
        return min(photos, counts.downloaded + counts.filtered + later)
    }

    /// True if the batch has neither finished nor been cancelled.
    public var isOpen: Bool { state != .finished && !cancelled }

    /// The total duration of all rounds of the batch, in seconds; the current round counts until `now`, which is Redis
    /// time in milliseconds. Excludes the time between the end of a round and the retry that starts the next round.
    package func seconds(now: Int) -> Double? {
        guard started != nil || spent > 0 else { return nil }
        let current = started.map { max(0, (finished ?? now) - $0) } ?? 0
        return Double(spent + current) / 1000
    }

    /// Whether photos of the batch run at `now`, which is Redis time in milliseconds. A batch that an earlier version
    /// has started counts as executing from its first claim to its end.
    package func isExecuting(now: Int) -> Bool {
        state == .executing && (pace?.isActive(now: now) ?? true)
    }

    /// The state to show. A batch whose operations are claimed, but of which no photo runs, is shown as ready.
    /// - Parameter problems: the problems of the batch, which can show earlier than ``pace`` that no photo runs.
    package func shownState(now: Int, problems: [BatchProblem]) -> BatchState {
        guard state == .executing else { return state }
        let isStopped = problems.contains { $0.batch == id && $0.code.stopsEveryPhoto }
        return isExecuting(now: now) && !isStopped ? .executing : .ready
    }

    /// The number of photos per second that were filtered or failed. While the batch is unfinished, this is the rate of
    /// the latest 30 to 60 s in which photos of the batch ran, or 0 if no photo runs now. After the batch has finished,
    /// this is the average over the time in which its photos ran. Nil before the batch has started.
    package func photosPerSecond(now: Int) -> Double? {
        if state != .finished, let pace {
            guard isExecuting(now: now) else { return 0 }
            let rate = pace.photosPerSecond(now: now, done: counts.done, isSuspended: controls.isSuspended)
            // In the first seconds of a batch, the average is the recent rate.
            let isNew = round == 1 && now - (started ?? 0) <= 2 * BatchPace.longestSilence.wholeMilliseconds
            if rate != nil || !isNew { return rate }
        }
        guard let seconds = secondsWorked(now: now), seconds > 0 else { return nil }
        return Double(counts.done) / seconds
    }

    /// The part of ``seconds(now:)`` in which photos of the batch ran; all of it if the part was not measured.
    package func secondsWorked(now: Int) -> Double? {
        guard let seconds = seconds(now: now) else { return nil }
        guard let worked, worked > 0, worked <= Int(seconds * 1000) else { return seconds }
        return Double(worked) / 1000
    }

    /// The time in seconds until the batch finishes at `rate` photos per second. Nil if the time is unknown: the list
    /// is still being fed, no photo is left, `rate` is nil or 0, or one of `problems` affects the batch.
    package func secondsLeft(at rate: Double?, problems: [BatchProblem]) -> Double? {
        let left = photos - counts.final
        let isHindered = problems.contains { $0.batch == nil || $0.batch == id }
        guard sealed, isOpen, !isHindered, left > 0, let rate, rate > 0 else { return nil }
        return Double(left) / rate
    }

    /// The failure reasons, each with the number of its failed photos; the most frequent reason comes first.
    package var failuresByCount: [(reason: FailureReason, count: Int)] {
        failures.filter { $0.value > 0 }.map { (reason: $0.key, count: $0.value) }
            .sorted { ($1.count, $0.reason.word) < ($0.count, $1.reason.word) }
    }

    /// The id, followed by the name if the batch has a name.
    package var label: String {
        options.name.isEmpty ? id.description : "\(id) \"\(HumanText.safe(options.name))\""
    }
}
