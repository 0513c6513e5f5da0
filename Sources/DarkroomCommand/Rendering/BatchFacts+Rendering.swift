import Darkroom
import DarkroomText

extension BatchFacts {
    /// State and flags as words: `executing, downloads suspended`.
    var stateText: String {
        guard damage.isEmpty else { return "damaged" }
        let flag = cancelled ? "cancelled" : controls.suspendedText
        return ([state.rawValue] + (flag.map { [$0] } ?? [])).joined(separator: ", ")
    }

    /// Damage, dependencies, focus and reason for cancellation: `waits for 20261121-090501123-7f3a; focus on photos
    /// 40-60`.
    var controlsText: String {
        var parts: [String] = []
        if let damageText { parts.append(damageText) }
        if let waitsForText { parts.append("waits for \(waitsForText)") }
        if let focusText { parts.append("focus on \(focusText)") }
        if !cancelledReason.isEmpty { parts.append(HumanText.safe(cancelledReason)) }
        return parts.joined(separator: "; ")
    }

    /// The damaged fields, for example `photos is "-5"`; nil if no field is damaged.
    var damageText: String? { damage.isEmpty ? nil : HumanText.list(damage.map(HumanText.safe)) }

    /// The ids of at most three batches that this batch waits for; nil if it waits for no batch.
    var waitsForText: String? { waitsFor.isEmpty ? nil : HumanText.list(waitsFor.map(\.description)) }

    /// The focus, for example `photos 40-60` or `photos 40-60 only`; nil if the batch has no focus.
    var focusText: String? {
        controls.focus.map { "photos \(PhotoRanges([$0.photos]))" + ($0.only ? " only" : "") }
    }

    /// The failure reasons with their counts, the most frequent first: `timeout 12, http-4xx 3`.
    var reasonsText: String {
        failuresByCount.map { "\($0.reason.word) \(HumanText.count($0.count))" }.joined(separator: ", ")
    }

    /// Reads the current facts of the batch.
    /// - Throws: ``CommandError`` if the batch has been forgotten.
    func refreshed(_ client: DarkroomClient) throws -> BatchFacts {
        guard let facts = try client.store.facts(of: id) else {
            throw CommandError("batch \(label) has been forgotten")
        }
        return facts
    }

    /// The error for an incomplete list of photos or operations of the batch.
    /// - Parameter doing: The interrupted action: `its photos were listed`.
    /// - Parameter lacking: The number of photos without a state code in Redis.
    func incompleteness(in client: DarkroomClient, _ doing: String, lacking: Int) throws -> CommandError {
        guard try client.store.facts(of: id) != nil else {
            return CommandError("batch \(label) was forgotten while \(doing); the list is not complete")
        }
        return CommandError(
            "batch \(label) lost the states of \(HumanText.count(lacking, of: "photo")) while \(doing): Redis went back to an "
                + "earlier state, or is damaged; the list is not complete")
    }

    /// Throws if the batch is damaged, since its number of photos and its folders may then be wrong.
    func requireSoundness() throws(CommandError) {
        guard !damage.isEmpty else { return }
        throw CommandError(
            "batch \(label) is damaged in Redis (\(HumanText.list(damage))), so its photos and operations cannot be listed; "
                + (options.output.isEmpty
                    ? "" : "to list its photos: darkroom manifest \(ShellWord.quoted(options.output)); ")
                + "remove it with: darkroom forget \(id) --force")
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
    /// The suspended parts, for example `downloads suspended`; nil if no part is suspended.
    var suspendedText: String? {
        HumanText.suspended(isSuspended, downloads: areDownloadsSuspended, filtrations: areFiltrationsSuspended)
    }
}
