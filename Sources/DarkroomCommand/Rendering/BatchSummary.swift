import Darkroom
import DarkroomText

/// The summary of a finished or cancelled batch: counts, failures by reason, and the folder of the photos.
struct BatchSummary {
    private let batch: BatchFacts
    private let now: Int

    /// - Parameter now: The Redis time, in milliseconds since 1970.
    init(_ batch: BatchFacts, now: Int) {
        self.batch = batch
        self.now = now
    }

    var lines: [String] {
        var lines = [headline]
        for (reason, count) in batch.failuresByCount {
            lines.append(
                "  \(reason.word)" + String(repeating: " ", count: 20 - reason.word.count) + HumanText.count(count))
        }
        if !batch.options.output.isEmpty {
            let folder = batch.options.output
            if batch.counts.filtered > 0 { lines.append("the photos are in \(folder)") }
            lines.append("to list each photo: darkroom manifest \(ShellWord.quoted(folder))")
        }
        return lines
    }

    private var headline: String {
        let counts = batch.counts
        var parts = ["\(HumanText.count(batch.photos, of: "photo")): \(HumanText.count(counts.filtered)) filtered"]
        if counts.failed > 0 { parts.append("\(HumanText.count(counts.failed)) failed") }
        if counts.cancelled > 0 { parts.append("\(HumanText.count(counts.cancelled)) cancelled") }
        let rate = counts.done == 0 ? nil : batch.photosPerSecond(now: now)
        let rounds = batch.round > 1 ? ", \(batch.round) rounds" : ""
        let time = batch.seconds(now: now).map { seconds in
            " in \(HumanText.duration(seconds))" + (rate.map { " (\(HumanText.rate($0))\(rounds))" } ?? "")
        }
        return parts.joined(separator: ", ")
            + "\(time ?? ""); \(HumanText.bytes(batch.bytesIn)) in, \(HumanText.bytes(batch.bytesOut)) out"
    }
}
