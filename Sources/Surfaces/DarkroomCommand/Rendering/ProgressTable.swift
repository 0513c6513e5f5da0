import Darkroom

/// The progress of several batches: a row with a bar for each unfinished batch, as in `watch`.
struct ProgressTable {
    private static let mostRows = 10

    private var batches: [BatchFacts] = []
    private var problems: [BatchProblem] = []
    private var now = 0
    private var rates: [BatchID: WatchModel.Rates] = [:]

    mutating func update(
        _ batches: [BatchFacts], problems: [BatchProblem], now: Int, at time: ContinuousClock.Instant = .now
    ) {
        self.now = now
        self.batches = batches
        self.problems = problems
        for batch in batches where batch.state != .finished { rates[batch.id, default: .init()].add(batch, at: time) }
    }

    func lines(width: Int) -> [StyledLine] {
        let open = batches.filter { $0.state != .finished }
        let shown = Array(open.prefix(Self.mostRows))
        let table = BatchColumns(shown, rates: rates, problems: problems, now: now, width: width)
        let hindered = Set(problems.compactMap(\.batch))
        var lines = [table.heading] + shown.map { table.row($0, isHindered: hindered.contains($0.id)) }
        var rest = ["\(HumanText.count(batches.count - open.count)) finished"]
        if open.count > shown.count { rest.insert("and \(HumanText.count(open.count - shown.count)) more", at: 0) }
        lines.append(StyledLine(rest.joined(separator: ", "), .dim).cut(to: width))
        return lines
    }
}
