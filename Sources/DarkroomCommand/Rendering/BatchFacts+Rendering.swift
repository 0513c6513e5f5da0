import Darkroom

extension BatchFacts {
    /// The id, and the name where there is one.
    var label: String {
        options.name.isEmpty ? id.description : "\(id) \"\(HumanText.safe(options.name))\""
    }

    /// State and flags as words: `executing, downloads suspended`.
    var stateText: String {
        let flag = cancelled ? "cancelled" : steering.suspendedText
        return ([state.rawValue] + (flag.map { [$0] } ?? [])).joined(separator: ", ")
    }

    /// What else is to be known of a batch that users steer: `waits for 20261121-090501123-7f3a; focus on photos 40-60`.
    var steeringText: String {
        var parts: [String] = []
        if let waitsForText { parts.append("waits for \(waitsForText)") }
        if let focusText { parts.append("focus on \(focusText)") }
        if !cancelledReason.isEmpty { parts.append(HumanText.safe(cancelledReason)) }
        return parts.joined(separator: "; ")
    }

    /// The batches that it waits for, the first three of many; nil when there are none.
    var waitsForText: String? { waitsFor.isEmpty ? nil : HumanText.list(waitsFor.map(\.description)) }

    /// The photos that run first: `photos 40-60`, `photos 40-60 only`.
    var focusText: String? {
        steering.focus.map { "photos \(PhotoRanges([$0.photos]))" + ($0.only ? " only" : "") }
    }

    /// How the batch stands now.
    /// - Throws: ``CommandError`` when it was forgotten meanwhile.
    func refreshed(_ store: BatchStore) throws -> BatchFacts {
        guard let facts = try store.facts(of: id) else { throw CommandError("batch \(label) was forgotten meanwhile") }
        return facts
    }

    /// How long it has been executed, in this round: until it finished, or until `now` in ms of the Redis clock.
    func seconds(now: Int) -> Double? {
        started.map { Double(max(0, (finished ?? now) - $0)) / 1000 }
    }

    /// How many photos have become final a second.
    func photosPerSecond(now: Int) -> Double? {
        guard let seconds = seconds(now: now), seconds > 0 else { return nil }
        return Double(counts.final) / seconds
    }

    /// Reasons with their counts, the most frequent first.
    var failuresByCount: [(reason: FailureReason, count: Int)] {
        failures.filter { $0.value > 0 }.map { (reason: $0.key, count: $0.value) }
            .sorted { ($1.count, $0.reason.word) < ($0.count, $1.reason.word) }
    }

    /// One line for people: what became of it.
    func summary(now: Int) -> String {
        let filtered = "\(HumanText.count(counts.filtered)) of \(HumanText.count(photos, of: "photo")) filtered"
        let reason = cancelledReason.isEmpty ? "" : " (\(HumanText.safe(cancelledReason)))"
        var parts = [stateText + reason, filtered]
        if counts.failed > 0 {
            let reasons = failuresByCount.map { "\($0.reason.word) \(HumanText.count($0.count))" }
            parts.append("\(HumanText.count(counts.failed)) failed (\(reasons.joined(separator: ", ")))")
        }
        if counts.cancelled > 0 { parts.append("\(HumanText.count(counts.cancelled)) cancelled") }
        if let seconds = seconds(now: now) { parts.append("in \(HumanText.duration(seconds))") }
        return "\(label): " + parts.joined(separator: ", ")
    }
}

extension Steering {
    /// What is suspended: `suspended`, `downloads suspended`; nil when nothing is.
    var suspendedText: String? {
        HumanText.suspended(isSuspended, downloads: areDownloadsSuspended, filtrations: areFiltrationsSuspended)
    }
}

extension JSON {
    /// The facts of a batch, the same wherever they appear; `now` is in ms of the Redis clock.
    init(_ batch: BatchFacts, now: Int) {
        let failures = batch.failuresByCount.map { JSON.Member(key: $0.reason.word, value: .int($0.count)) }
        self = [
            "id": .string(batch.id.description), "name": .string(batch.options.name),
            "state": .string(batch.state.rawValue), "suspended": .bool(batch.suspended),
            "cancelled": .bool(batch.cancelled), "priority": .string(batch.options.priority.rawValue),
            "photos": .int(batch.photos), "operations": .int(batch.operations), "counts": JSON(batch.counts),
            "failures": .object(failures), "bytesIn": .int(batch.bytesIn), "bytesOut": .int(batch.bytesOut),
            "submitted": JSON(time: batch.submitted), "started": JSON(time: batch.started),
            "finished": JSON(time: batch.finished), "seconds": JSON(batch.seconds(now: now), decimals: 3),
            "photosPerSecond": JSON(batch.photosPerSecond(now: now), decimals: 2),
            "filters": .array(batch.options.filters.map(JSON.string)), "output": .string(batch.options.output),
        ]
        self = adding(JSON.steering(of: batch))
    }

    /// What else holds for a batch: only what does.
    private static func steering(of batch: BatchFacts) -> [Member] {
        var members: [Member] = []
        if !batch.waitsFor.isEmpty {
            members.append(Member(key: "waitsFor", value: .array(batch.waitsFor.map { .string($0.description) })))
        }
        if batch.steering.areDownloadsSuspended {
            members.append(Member(key: "downloadsSuspended", value: .bool(true)))
        }
        if batch.steering.areFiltrationsSuspended {
            members.append(Member(key: "filtrationsSuspended", value: .bool(true)))
        }
        if !batch.cancelledReason.isEmpty {
            members.append(Member(key: "cancelledReason", value: .string(batch.cancelledReason)))
        }
        if let focus = batch.steering.focus {
            let value: JSON = [
                "first": .int(focus.photos.lowerBound), "last": .int(focus.photos.upperBound),
                "only": .bool(focus.only),
            ]
            members.append(Member(key: "focus", value: value))
        }
        return members
    }

    /// How many photos are in each state.
    init(_ counts: PhotoCounts) {
        self = [
            "new": .int(counts.new), "downloaded": .int(counts.downloaded), "filtered": .int(counts.filtered),
            "failed": .int(counts.failed), "cancelled": .int(counts.cancelled),
        ]
    }
}
