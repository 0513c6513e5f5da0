import DarkroomText

/// The facts of a batch for users: `darkroom status` and the page of the batch.
package struct BatchSheet {
    private let batch: BatchFacts
    private let now: Int
    private let problems: [BatchProblem]
    private let waiting: String?
    private let waited: String?

    /// - Parameters:
    ///   - now: The Redis time, in milliseconds since 1970.
    ///   - problems: The problems of the batch.
    ///   - waiting: The photos that wait for hosts, see ``HostList/waitText``.
    ///   - waited: The resource for which the photos waited longest, see ``ResourceWaits/text``.
    package init(_ batch: BatchFacts, now: Int, problems: [BatchProblem], waiting: String?, waited: String?) {
        self.batch = batch
        self.now = now
        self.problems = problems
        self.waiting = waiting
        self.waited = waited
    }

    package var sheet: FactSheet {
        let options = batch.options
        let counts = batch.counts
        var sheet = FactSheet()
        sheet.add("batch", batch.id.description)
        if !options.name.isEmpty { sheet.add("name", options.name) }
        sheet.add("state", batch.stateText(now: now, problems: problems))
        if let damage = batch.damageText { sheet.add("damage", damage) }
        if let others = batch.waitsForText { sheet.add("waits for", others) }
        if !batch.cancelledReason.isEmpty { sheet.add("reason", batch.cancelledReason) }
        sheet.add("photos", HumanText.count(batch.photos) + (batch.sealed ? "" : " fed so far"))
        if !batch.sealed, batch.isOpen {
            let silence = HumanText.duration(Double(max(0, now - batch.feederSeen)) / 1000)
            sheet.add("feeder", "last heartbeat \(silence) ago")
        }
        for (name, count) in [
            ("  new", counts.new), ("  downloaded", counts.downloaded), ("  filtered", counts.filtered),
            ("  failed", counts.failed), ("  cancelled", counts.cancelled),
        ] where count > 0 { sheet.add(name, HumanText.count(count) + percentage(count)) }
        if batch.lostGainMaps > 0 { sheet.add("    without gain map", HumanText.count(batch.lostGainMaps)) }
        for (reason, count) in batch.failuresByCount { sheet.add("    \(reason.word)", HumanText.count(count)) }
        sheet.add(
            "operations",
            "\(HumanText.count(batch.operations)) of \(options.operationSize) photos: \(HumanText.count(queued)) queued, "
                + "\(HumanText.count(batch.executing)) executing, \(HumanText.count(batch.operationsEnded)) ended")
        sheet.add("priority", batch.controls.priority.rawValue)
        if let focus = batch.focusText { sheet.add("focus", focus) }
        if batch.round > 1 { sheet.add("round", "\(batch.round): failed photos were run again") }
        for row in options.recipeRows { sheet.add(row.name, row.text) }
        sheet.add("output", options.output.isEmpty ? "none" : options.output)
        sheet.add("file names", options.fileName)
        if options.redactURLs { sheet.add("manifest", "without query of URLs") }
        sheet.add("bytes", "\(HumanText.bytes(batch.bytesIn)) in, \(HumanText.bytes(batch.bytesOut)) out")
        sheet.add("submitted", time(batch.submitted))
        if let started = batch.started { sheet.add("started", time(started)) }
        if let finished = batch.finished { sheet.add("finished", time(finished)) }
        if let seconds = batch.seconds(now: now) {
            let rounds = batch.round > 1 ? " in \(batch.round) rounds" : ""
            sheet.add(batch.state == .finished ? "took" : "running", HumanText.duration(seconds) + rounds)
        }
        let rate = batch.photosPerSecond(now: now)
        if let rate, rate > 0 { sheet.add("rate", HumanText.rate(rate)) }
        let waits = [waiting, batch.deferral?.text(now: now)].compactMap(\.self)
        if !waits.isEmpty { sheet.add("waiting", waits.joined(separator: "; ")) }
        if let waited { sheet.add("waited for", waited) }
        if let left = batch.secondsLeft(at: rate, problems: problems) { sheet.add("left", HumanText.duration(left)) }
        return sheet
    }

    private var queued: Int { batch.operations - batch.operationsEnded - batch.executing }

    private func percentage(_ count: Int) -> String {
        batch.photos == 0 ? "" : " (\(Int((Double(count) * 100 / Double(batch.photos)).rounded(.down))) %)"
    }

    private func time(_ milliseconds: Int) -> String {
        "\(HumanText.localTime(milliseconds)) (\(HumanText.duration(Double(max(0, now - milliseconds)) / 1000)) ago)"
    }
}
