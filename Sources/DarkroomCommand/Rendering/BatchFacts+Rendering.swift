import Darkroom

extension BatchFacts {
    /// The id, and the name where there is one.
    var label: String {
        options.name.isEmpty ? id.description : "\(id) \"\(HumanText.safe(options.name))\""
    }

    /// State and flags as words: `executing, suspended`.
    var stateText: String {
        ([state.rawValue] + (suspended ? ["suspended"] : []) + (cancelled ? ["cancelled"] : [])).joined(separator: ", ")
    }

    /// One line for people: what became of it.
    func summary(now: Int) -> String {
        let filtered = "\(HumanText.count(counts.filtered)) of \(HumanText.count(photos, of: "photo")) filtered"
        var parts = [stateText, filtered]
        if counts.failed > 0 {
            let reasons = failuresByCount.map { "\($0.reason.word) \(HumanText.count($0.count))" }
            parts.append("\(HumanText.count(counts.failed)) failed (\(reasons.joined(separator: ", ")))")
        }
        if counts.cancelled > 0 { parts.append("\(HumanText.count(counts.cancelled)) cancelled") }
        if let seconds = seconds(now: now) { parts.append("in \(HumanText.duration(seconds))") }
        return "\(label): " + parts.joined(separator: ", ")
    }
}
