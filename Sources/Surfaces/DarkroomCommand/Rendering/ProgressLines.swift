import Darkroom

/// The progress of one batch: a line with a bar for each stage, or one plain line.
struct ProgressLines {
    private var facts: BatchFacts
    private var problems: [BatchProblem] = []
    /// The Redis time at which the facts were read, in milliseconds since 1970.
    private var now = 0
    private var rates = WatchModel.Rates()

    init(_ facts: BatchFacts, at time: ContinuousClock.Instant = .now) {
        self.facts = facts
        update(facts, at: time)
    }

    mutating func update(
        _ facts: BatchFacts, problems: [BatchProblem] = [], now: Int = 0, at time: ContinuousClock.Instant = .now
    ) {
        self.now = now
        self.facts = facts
        self.problems = problems
        rates.add(facts, at: time)
    }

    /// The lines of the stages and of the failure reasons for a terminal of `width` columns; with `feedOnly`, only the
    /// line of the feed.
    func stages(width: Int, feedOnly: Bool) -> [StyledLine] {
        let photos = HumanText.count(facts.photos, of: "photo")
        let feed = StyledLine(label("fed") + ([photos] + rate(rates.fed.perSecond)).joined(separator: "  ")).cut(
            to: width)
        if feedOnly { return [feed] }
        let counts = facts.counts
        let downloads = Stage(
            name: "downloaded", style: .downloads, text: text(facts.downloads, rate(rates.downloaded.perSecond)),
            parts: [.init(count: facts.downloads, style: .downloads)])
        let filtrations = Stage(
            name: "filtered", style: .filtrations, text: text(counts.done, rate(perSecond)),
            failures: counts.failed > 0 ? "  \(HumanText.count(counts.failed)) failed" : "",
            end: timeLeft.map { "  " + $0 }.joined(),
            parts: [
                .init(count: counts.filtered, style: .filtrations), .init(count: counts.failed, style: .bad),
                .init(count: counts.cancelled, style: .dim, block: "\u{2592}"),
            ])
        let stages = [downloads, filtrations]
        // All bars have the same length, so that they can be compared.
        let room = min(40, width - label("").count - (stages.map(\.columns).max() ?? 0) - 3)
        var lines = facts.sealed ? [] : [feed]
        lines += stages.map { line($0, room: room).cut(to: width) }
        if counts.failed > 0 { lines.append(StyledLine(label("failed") + facts.reasonsText, .bad).cut(to: width)) }
        return lines
    }

    /// The progress in one line.
    func line(feedOnly: Bool) -> String {
        let pace = feedOnly ? rate(rates.fed.perSecond) : rate(perSecond) + timeLeft
        return (counts(feedOnly: feedOnly) + pace).joined(separator: ", ")
    }

    /// The parts of the line, excluding the rate and the time left, which change even while no photo becomes final.
    func counts(feedOnly: Bool) -> [String] {
        let fed = "\(HumanText.count(facts.photos, of: "photo")) fed" + (facts.sealed ? "" : " so far")
        if feedOnly { return [fed] }
        let failed = facts.counts.failed
        let failures = failed > 0 ? ["\(HumanText.count(failed)) failed (\(facts.reasonsText))"] : []
        let counts = [
            "\(HumanText.count(facts.downloads)) downloaded", "\(HumanText.count(facts.counts.filtered)) filtered",
        ]
        return [fed] + counts + failures
    }

    private struct Stage {
        let name: String
        let style: StyledLine.Style
        let text: String
        var failures = ""
        var end = ""
        let parts: [Bar.Part]

        var columns: Int { text.count + failures.count + end.count }
    }

    /// - Parameter room: The columns for the bar. With fewer than 10 columns, the bar is omitted.
    private func line(_ stage: Stage, room: Int) -> StyledLine {
        var line = StyledLine(label(stage.name), stage.style)
        if room >= 10 {
            line.append(Bar.line(stage.parts, of: facts.photos, room: room))
            line.append("  ")
        }
        line.append(stage.text, stage.style)
        line.append(stage.failures, .bad)
        line.append(stage.end, stage.style)
        return line
    }

    private func text(_ count: Int, _ details: [String]) -> String {
        (["\(HumanText.count(count)) of \(HumanText.count(facts.photos))"] + details).joined(separator: "  ")
    }

    private func label(_ name: String) -> String { TextWidth.padded(name, to: 12) }

    private func rate(_ perSecond: Double?) -> [String] {
        guard let rate = perSecond, rate > 0 else { return [] }
        return [HumanText.rate(rate)]
    }

    private var timeLeft: [String] {
        facts.secondsLeft(at: perSecond, problems: problems).map { ["\(HumanText.duration($0)) left"] } ?? []
    }

    private var perSecond: Double? { rates.perSecond(facts, now: now) }
}
