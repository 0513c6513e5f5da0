import DarkroomConcurrency
import DarkroomModel
import DarkroomStore
import Foundation

extension WorkerCore {
    /// The fields of `{namespace}:worker:<id>`, sent with every heartbeat.
    var facts: [(field: String, value: String)] {
        let (operations, limits, activity) = read { ($0.held, $0.limits, $0.activity) }
        return [
            ("host", ProcessInfo.processInfo.hostName), ("pid", String(getpid())), ("version", darkroomVersion),
            ("started", String(started)), ("downloads", String(limits.downloads)),
            ("filtrations", String(limits.filtrations)), ("downloading", String(activity.downloading)),
            ("filtering", String(activity.filtering)), ("bytes.held", String(activity.bytesHeld)),
            ("photos", String(activity.photosDone)),
            ("rate", String(rate.photosPerSecond(done: activity.photosDone))),
            ("operations", operations.prefix(16).map { "\($0.batch)/\($0.number)" }.joined(separator: " ")),
            ("refused", refusedText),
        ]
    }

    /// The refused batches with the reasons, truncated to ``WorkerFacts/mostRefusedText``.
    private var refusedText: String {
        var text = String.UnicodeScalarView()
        for (batch, reason) in refused.sorted(by: { $0.key < $1.key }) {
            text.append(contentsOf: "\(text.isEmpty ? "" : "; ")\(batch): \(reason)".unicodeScalars)
            if text.count >= WorkerFacts.mostRefusedText { break }
        }
        return String(String.UnicodeScalarView(text.prefix(WorkerFacts.mostRefusedText)))
    }
}

/// Measures how many photos a worker finishes per second.
final class Rate: Sendable {
    private let samples = Locked<[(time: ContinuousClock.Instant, done: Int)]>([])

    /// Adds a sample. Returns the photos per second since the oldest sample of the last 10 s.
    func photosPerSecond(done: Int) -> Int {
        samples.withLock { samples in
            let now = ContinuousClock.now
            samples.append((now, done))
            samples.removeAll { now - $0.time > .seconds(10) }
            guard let first = samples.first, now - first.time > .seconds(1) else { return 0 }
            return Int((Double(done - first.done) / ((now - first.time) / .seconds(1))).rounded())
        }
    }
}
