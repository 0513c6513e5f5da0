import Darkroom

/// What is shown of a batch while it goes on: a line with a bar for each stage, or all in one plain line.
struct ProgressLines {
    private var facts: BatchFacts
    private var problems: [BatchProblem] = []
    private var fed = RateMeter()
    private var downloaded = RateMeter()
    private var done = RateMeter()

    init(_ facts: BatchFacts, at time: ContinuousClock.Instant = .now) {
        self.facts = facts
        update(facts, at: time)
    }

    /// Takes how the batch stands now, and what hinders it.
    mutating func update(
        _ facts: BatchFacts, problems: [BatchProblem] = [], at time: ContinuousClock.Instant = .now
    ) {
        self.facts = facts
        self.problems = problems
        fed.add(facts.photos, at: time)
        downloaded.add(facts.downloads, at: time)
        done.add(facts.counts.done, at: time)
    }

    /// The stages for a terminal of `width` columns; the feed alone when nobody waits for the rest.
    func stages(width: Int, feedOnly: Bool) -> [String] {
        let photos = HumanText.count(facts.photos, of: "photo")
        let feed = label("fed") + ([photos] + rate(fed)).joined(separator: "  ")
        if feedOnly { return [feed] }
        let stages = [
            (name: "downloaded", count: facts.downloads, text: text(facts.downloads, rate(downloaded))),
            (
                name: "filtered", count: facts.counts.done,
                text: text(facts.counts.done, rate(done) + failures + timeLeft)
            ),
        ]
        // Bars of one length, so that they can be compared.
        let room = min(40, width - label("").count - (stages.map(\.text.count).max() ?? 0) - 3)
        let lines = stages.map { label($0.name) + bar($0.count, room: room) + $0.text }
        return facts.sealed ? lines : [feed] + lines
    }

    /// Everything in one line.
    func line(feedOnly: Bool) -> String {
        let fed = "\(HumanText.count(facts.photos, of: "photo")) fed" + (facts.sealed ? "" : " so far")
        if feedOnly { return ([fed] + rate(self.fed)).joined(separator: ", ") }
        let counts = [
            "\(HumanText.count(facts.downloads)) downloaded", "\(HumanText.count(facts.counts.filtered)) filtered",
        ]
        return ([fed] + counts + failures + rate(done) + timeLeft).joined(separator: ", ")
    }

    private func text(_ count: Int, _ details: [String]) -> String {
        (["\(HumanText.count(count)) of \(HumanText.count(facts.photos))"] + details).joined(separator: "  ")
    }

    /// A bar of `room` columns and the space behind it; nothing where there is no room for one.
    private func bar(_ count: Int, room: Int) -> String {
        guard room >= 10 else { return "" }
        return Bar.text(count, of: facts.photos, room: room) + "  "
    }

    private func label(_ name: String) -> String { name + String(repeating: " ", count: 12 - name.count) }

    private func rate(_ meter: RateMeter) -> [String] {
        guard let rate = meter.perSecond, rate > 0 else { return [] }
        return [HumanText.rate(rate)]
    }

    private var failures: [String] {
        facts.counts.failed > 0 ? ["\(HumanText.count(facts.counts.failed)) failed"] : []
    }

    private var timeLeft: [String] {
        facts.secondsLeft(at: done.perSecond, problems: problems).map { ["\(HumanText.duration($0)) left"] } ?? []
    }
}
