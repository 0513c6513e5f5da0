import Darkroom
import DarkroomStore
import DarkroomText

/// The summary of a finished or cancelled batch: counts, failures by reason with an example, the filters and the
/// encoding of the photos, and their folder.
struct BatchSummary {
    private let batch: BatchFacts
    private let now: Int
    private let examples: [FailureReason: PhotoFailure]
    private let waited: ResourceWaits

    /// - Parameters:
    ///   - now: The Redis time, in milliseconds since 1970.
    ///   - examples: A failed photo for each reason.
    ///   - waited: The resources for which the photos waited.
    init(
        _ batch: BatchFacts, now: Int, examples: [FailureReason: PhotoFailure] = [:],
        waited: ResourceWaits = ResourceWaits()
    ) {
        self.batch = batch
        self.now = now
        self.examples = examples
        self.waited = waited
    }

    var lines: [String] {
        var lines = [headline]
        for (reason, count) in batch.failuresByCount {
            lines.append(
                "  \(reason.word)" + String(repeating: " ", count: 20 - reason.word.count) + HumanText.count(count)
                    + example(of: reason))
        }
        if let text = waited.text(.commands) { lines.append("waited most for \(text)") }
        lines.append(batch.options.treatmentText)
        if batch.lostGainMaps > 0 { lines.append(GainMapText.lost(batch.lostGainMaps)) }
        if !batch.options.output.isEmpty {
            let folder = batch.options.output
            if batch.counts.filtered > 0 { lines.append("the photos are in \(folder)") }
            lines.append("to list each photo: darkroom manifest \(ShellWord.quoted(folder))")
        }
        return lines
    }

    private func example(of reason: FailureReason) -> String {
        guard let example = examples[reason], let detail = example.detail else { return "" }
        let text = RemedyWording.commands.sentence(detail, reason.remedies)
        return ", such as photo \(example.index): \(HumanText.safe(text))"
    }

    private var headline: String {
        let counts = batch.counts
        var parts = ["\(HumanText.count(batch.photos, of: "photo")): \(HumanText.count(counts.filtered)) filtered"]
        if counts.failed > 0 { parts.append("\(HumanText.count(counts.failed)) failed") }
        if counts.cancelled > 0 { parts.append("\(HumanText.count(counts.cancelled)) cancelled") }
        let rate = counts.done == 0 ? nil : batch.photosPerSecond(now: now)
        let rounds = batch.round > 1 ? ", \(batch.round) rounds" : ""
        let time = batch.seconds(now: now).map { seconds in
            // The rate is the average over the time of the batch, excluding suspensions and waits.
            let worked = batch.secondsWorked(now: now) ?? seconds
            let part = seconds - worked < max(1, seconds / 20) ? "" : " over the \(HumanText.duration(worked)) of work"
            return " in \(HumanText.duration(seconds))"
                + (rate.map { " (\(HumanText.rate($0))\(part)\(rounds))" } ?? "")
        }
        return parts.joined(separator: ", ")
            + "\(time ?? ""); \(HumanText.bytes(batch.bytesIn)) in, \(HumanText.bytes(batch.bytesOut)) out"
    }
}

extension BatchStore {
    /// For each reason, the failed photo with the lowest index. A reason may be missing, because Redis keeps the details
    /// of only 10,000 failed photos of a batch.
    func firstFailures(of batch: BatchFacts) throws(StoreError) -> [FailureReason: PhotoFailure] {
        guard batch.counts.failed > 0 else { return [:] }
        var first: [FailureReason: PhotoFailure] = [:]
        for (index, json) in try failures(of: batch.id) where first.count < batch.failures.count {
            guard let failure = PhotoFailure(index: index, json: json), first[failure.reason] == nil else { continue }
            first[failure.reason] = failure
        }
        return first
    }
}
