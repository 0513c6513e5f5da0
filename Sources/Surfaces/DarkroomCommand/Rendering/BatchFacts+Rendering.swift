import Darkroom

extension BatchFacts {
    /// Reads the current facts of the batch.
    /// - Throws: ``CommandError`` if the batch has been forgotten.
    func refreshed(_ client: DarkroomClient) throws -> BatchFacts {
        guard let facts = try client.store.facts(of: id) else {
            throw CommandError("batch \(label) has been forgotten")
        }
        return facts
    }

    /// The message for a batch that was cancelled while it was fed or run.
    var cancellation: String {
        let why = cancelledReason.isEmpty ? "" : " (\(HumanText.safe(cancelledReason)))"
        guard !sealed else { return "batch \(label) was cancelled\(why)" }
        return
            "batch \(label) was cancelled while it was fed\(why): \(HumanText.count(photos, of: "photo")) of the list "
            + (photos == 1 ? "was" : "were") + " fed, nothing more will be"
    }

    /// The outcome of the batch in one line.
    func summary(now: Int, problems: [BatchProblem]) -> String {
        let filtered = "\(HumanText.count(counts.filtered)) of \(HumanText.count(photos, of: "photo")) filtered"
        let reason = cancelledReason.isEmpty ? "" : " (\(HumanText.safe(cancelledReason)))"
        var parts = [stateText(now: now, problems: problems) + reason, filtered]
        if counts.failed > 0 { parts.append("\(HumanText.count(counts.failed)) failed (\(reasonsText))") }
        if counts.cancelled > 0 { parts.append("\(HumanText.count(counts.cancelled)) cancelled") }
        if let seconds = seconds(now: now) { parts.append("in \(HumanText.duration(seconds))") }
        return "\(label): " + parts.joined(separator: ", ")
    }
}
