import Darkroom

/// What hinders batches that have not finished, in words that say what to do.
struct BatchWarnings {
    /// What hinders a batch.
    enum Kind { case feeder, workers }

    private static let feederMayBeSilent = Duration.seconds(30)

    private let workers: [WorkerFacts]
    private let now: Int

    /// - Parameters:
    ///   - workers: those that Redis lists.
    ///   - now: in ms of the Redis clock.
    init(workers: [WorkerFacts], now: Int) {
        self.workers = workers.filter { $0.isLiving(now: now) }
        self.now = now
    }

    /// What hinders `batch` now.
    func of(_ batch: BatchFacts) -> [(kind: Kind, text: String)] {
        guard batch.state != .finished, !batch.cancelled else { return [] }
        var warnings: [(kind: Kind, text: String)] = []
        let silent = now - batch.feederSeen
        if !batch.sealed, silent > Self.feederMayBeSilent.wholeMilliseconds {
            let fed = HumanText.count(batch.photos, of: "photo")
            warnings.append(
                (
                    .feeder,
                    "batch \(batch.label): its feeder has been silent for \(HumanText.duration(Double(silent) / 1000)); "
                        + "\(fed) are fed, the list is not at its end; if it is gone, go on with: "
                        + "darkroom submit LIST --resume \(batch.id)"
                ))
        }
        let queued = batch.operations - batch.operationsEnded - batch.executing
        let isTaken = workers.contains { $0.refusal(of: batch.id) == nil }
        if queued > 0, batch.state != .waiting, !batch.suspended, !isTaken {
            warnings.append((.workers, "batch \(batch.label): no living worker takes it: \(whyNot(batch.id))"))
        }
        return warnings
    }

    private func whyNot(_ batch: BatchID) -> String {
        guard !workers.isEmpty else { return "there is no worker; start one with: darkroom worker" }
        let reasons = Set(workers.compactMap { $0.refusal(of: batch) }).sorted()
        return "\(HumanText.count(workers.count, of: "worker")) refused it: " + reasons.joined(separator: "; ")
    }
}
