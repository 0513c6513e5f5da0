import Darkroom
import DarkroomText

extension BatchFacts {
    /// State and flags as words: `executing, downloads suspended`.
    var stateText: String {
        guard damage.isEmpty else { return "damaged" }
        let flag = cancelled ? "cancelled" : controls.suspendedText
        return ([state.rawValue] + (flag.map { [$0] } ?? [])).joined(separator: ", ")
    }

    /// What else is to be known of a batch that users steer: `waits for 20261121-090501123-7f3a; focus on photos 40-60`.
    var steeringText: String {
        var parts: [String] = []
        if let damageText { parts.append(damageText) }
        if let waitsForText { parts.append("waits for \(waitsForText)") }
        if let focusText { parts.append("focus on \(focusText)") }
        if !cancelledReason.isEmpty { parts.append(HumanText.safe(cancelledReason)) }
        return parts.joined(separator: "; ")
    }

    /// What is damaged of it in Redis: `photos is "-5"`; nil when nothing is.
    var damageText: String? { damage.isEmpty ? nil : HumanText.list(damage.map(HumanText.safe)) }

    /// The batches that it waits for, the first three of many; nil when there are none.
    var waitsForText: String? { waitsFor.isEmpty ? nil : HumanText.list(waitsFor.map(\.description)) }

    /// The photos that run first: `photos 40-60`, `photos 40-60 only`.
    var focusText: String? {
        controls.focus.map { "photos \(PhotoRanges([$0.photos]))" + ($0.only ? " only" : "") }
    }

    /// Why photos failed, the most frequent reason first: `timeout 12, http-4xx 3`.
    var reasonsText: String {
        failuresByCount.map { "\($0.reason.word) \(HumanText.count($0.count))" }.joined(separator: ", ")
    }

    /// How the batch stands now.
    /// - Throws: ``CommandError`` when it was forgotten meanwhile.
    func refreshed(_ client: DarkroomClient) throws -> BatchFacts {
        guard let facts = try client.store.facts(of: id) else {
            throw CommandError("batch \(label) was forgotten meanwhile")
        }
        return facts
    }

    /// Why a list of what belongs to the batch is not complete.
    /// - Parameter doing: What was done meanwhile: `its photos were listed`.
    /// - Parameter lacking: How many photos Redis has no letters of.
    func incompleteness(in client: DarkroomClient, _ doing: String, lacking: Int) throws -> CommandError {
        guard try client.store.facts(of: id) != nil else {
            return CommandError("batch \(label) was forgotten while \(doing); the list is not complete")
        }
        return CommandError(
            "batch \(label) lost the states of \(HumanText.count(lacking, of: "photo")) while \(doing): Redis went back to an "
                + "earlier state, or is damaged; the list is not complete")
    }

    /// Throws unless the batch is sound: of a damaged batch it is not known how many photos it has, nor where they are.
    func requireSoundness() throws(CommandError) {
        guard !damage.isEmpty else { return }
        throw CommandError(
            "batch \(label) is damaged in Redis (\(HumanText.list(damage))), so what it has cannot be listed; "
                + (options.output.isEmpty
                    ? "" : "what became of its photos: darkroom manifest \(ShellWord.quoted(options.output)); ")
                + "remove it with: darkroom forget \(id) --force")
    }

    /// One line for people: what became of it.
    func summary(now: Int) -> String {
        let filtered = "\(HumanText.count(counts.filtered)) of \(HumanText.count(photos, of: "photo")) filtered"
        let reason = cancelledReason.isEmpty ? "" : " (\(HumanText.safe(cancelledReason)))"
        var parts = [stateText + reason, filtered]
        if counts.failed > 0 { parts.append("\(HumanText.count(counts.failed)) failed (\(reasonsText))") }
        if counts.cancelled > 0 { parts.append("\(HumanText.count(counts.cancelled)) cancelled") }
        if let seconds = seconds(now: now) { parts.append("in \(HumanText.duration(seconds))") }
        return "\(label): " + parts.joined(separator: ", ")
    }
}

extension BatchControls {
    /// What is suspended: `suspended`, `downloads suspended`; nil when nothing is.
    var suspendedText: String? {
        HumanText.suspended(isSuspended, downloads: areDownloadsSuspended, filtrations: areFiltrationsSuspended)
    }
}
