import DarkroomText

extension BatchFacts {
    /// State and flags as words: `executing, downloads suspended`.
    ///
    /// - Parameters:
    ///   - now: Redis time, in milliseconds since 1970.
    ///   - problems: The problems of the batch.
    package func stateText(now: Int, problems: [BatchProblem]) -> String {
        guard damage.isEmpty else { return "damaged" }
        let flag = cancelled ? "cancelled" : controls.suspendedText
        let state = shownState(now: now, problems: problems).rawValue
        return ([state] + (flag.map { [$0] } ?? [])).joined(separator: ", ")
    }

    /// The photos that have no result yet, as a clause: `4 of its 10 photos are not done`.
    package var unfinishedText: String {
        "\(HumanText.count(photos - counts.final)) of its \(HumanText.count(photos, of: "photo"))"
            + "\(sealed ? "" : " fed so far") are not done"
    }

    /// Damage, dependencies, focus and reason for cancellation: `waits for 20261121-090501123-7f3a; focus on photos
    /// 40-60`.
    package var controlsText: String {
        var parts: [String] = []
        if let damageText { parts.append(damageText) }
        if let waitsForText { parts.append("waits for \(waitsForText)") }
        if let focusText { parts.append("focus on \(focusText)") }
        if !cancelledReason.isEmpty { parts.append(HumanText.safe(cancelledReason)) }
        return parts.joined(separator: "; ")
    }

    /// The damaged fields, for example `photos is "-5"`; nil if no field is damaged.
    package var damageText: String? { damage.isEmpty ? nil : HumanText.list(damage.map(HumanText.safe)) }

    /// The ids of at most three batches that this batch waits for; nil if it waits for no batch.
    package var waitsForText: String? { waitsFor.isEmpty ? nil : HumanText.list(waitsFor.map(\.description)) }

    /// The focus, for example `photos 40-60` or `photos 40-60 only`; nil if the batch has no focus.
    package var focusText: String? {
        controls.focus.map { "photos \(PhotoRanges([$0.photos]))" + ($0.only ? " only" : "") }
    }

    /// The failure reasons with their counts, the most frequent first: `timeout 12, http-4xx 3`.
    package var reasonsText: String {
        failuresByCount.map { "\($0.reason.word) \(HumanText.count($0.count))" }.joined(separator: ", ")
    }
}

extension BatchControls {
    /// The suspended parts, for example `downloads suspended`; nil if no part is suspended.
    package var suspendedText: String? {
        HumanText.suspended(isSuspended, downloads: areDownloadsSuspended, filtrations: areFiltrationsSuspended)
    }
}

extension ClusterControls {
    /// The suspended parts, for example `downloads suspended`; nil if no part is suspended.
    package var suspendedText: String? {
        HumanText.suspended(isSuspended, downloads: areDownloadsSuspended, filtrations: areFiltrationsSuspended)
    }

    /// The limits of each worker: `8 downloads, 2 filtrations at once in each worker`; nil if no limit is set.
    package var limitsText: String? {
        let limits = [
            downloads.map { HumanText.count($0, of: "download") },
            filtrations.map { HumanText.count($0, of: "filtration") },
        ]
        let set = limits.compactMap(\.self)
        return set.isEmpty ? nil : set.joined(separator: ", ") + " at once in each worker"
    }
}
