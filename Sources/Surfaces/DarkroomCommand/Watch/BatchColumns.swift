import Darkroom

/// A table of batches, with as many columns as fit on the terminal.
struct BatchColumns {
    private struct Column {
        let name: String
        let isNumber: Bool
        /// If the terminal is too narrow, the columns with the lowest rank are omitted first.
        let rank: Int
        let text: (BatchFacts) -> String
        var width = 0
    }

    private static let gap = 2
    private static let shortestName = 14
    private static let shortestBar = 10
    private static let longestBar = 60

    private var columns: [Column]
    private let name: Int
    private let bar: Int
    private let width: Int

    /// - Parameters:
    ///   - problems: The problems of the batches. For a batch with a problem, the remaining time is unknown.
    ///   - now: The Redis time, in milliseconds since 1970.
    init(
        _ batches: [BatchFacts], rates: [BatchID: WatchModel.Rates], problems: [BatchProblem], now: Int, width: Int
    ) {
        self.width = width
        var columns = [
            Column(name: "state", isNumber: false, rank: 9) { batch in
                batch.stateWord(now: now, problems: problems)
            },
            Column(name: "done", isNumber: true, rank: 8) {
                "\(HumanText.count($0.counts.done)) of \(HumanText.count($0.photos))\($0.sealed ? "" : "+")"
            },
            Column(name: "rate", isNumber: true, rank: 6) { batch in
                // A finished batch shows its average rate.
                let isDone = batch.state == .finished && !batch.cancelled
                let rate = isDone ? batch.photosPerSecond(now: now) : rates[batch.id]?.perSecond(batch, now: now)
                return rate.map { $0 > 0 ? HumanText.rate($0) : "" } ?? ""
            },
            Column(name: "left", isNumber: true, rank: 5) { batch in
                let rate = rates[batch.id]?.perSecond(batch, now: now)
                return batch.secondsLeft(at: rate, problems: problems).map(HumanText.duration) ?? ""
            },
            Column(name: "failed", isNumber: true, rank: 7) {
                $0.counts.failed > 0 ? HumanText.count($0.counts.failed) : ""
            },
        ]
        for position in columns.indices {
            let texts = batches.map { TextWidth.columns(of: columns[position].text($0)) }
            columns[position].width = max(columns[position].name.count, texts.max() ?? 0)
        }
        func room() -> Int { width - columns.reduce(0) { $0 + $1.width + Self.gap } }
        while room() < Self.shortestName, let least = columns.indices.min(by: { columns[$0].rank < columns[$1].rank }) {
            columns.remove(at: least)
        }
        let longest = max(5, batches.map { TextWidth.columns(of: $0.shortName) }.max() ?? 0)
        if room() >= Self.shortestName + Self.gap + Self.shortestBar {
            name = min(longest, room() - Self.gap - Self.shortestBar)
            bar = min(Self.longestBar, room() - Self.gap - name)
        } else {
            name = max(1, min(longest, room()))
            bar = 0
        }
        self.columns = columns
    }

    var heading: StyledLine {
        var texts = [TextWidth.padded("BATCH", to: name)]
        if bar > 0 { texts.append(TextWidth.padded("PROGRESS", to: bar)) }
        texts += columns.map { aligned($0.name.uppercased(), $0) }
        return StyledLine(texts.joined(separator: "  "), .dim).cut(to: width)
    }

    func row(_ batch: BatchFacts, isHindered: Bool) -> StyledLine {
        let isNamed = !batch.options.name.isEmpty
        let label =
            isNamed ? TextWidth.cutMiddle(batch.shortName, to: name) : TextWidth.cutFront(batch.shortName, to: name)
        var line = StyledLine(TextWidth.padded(label, to: name), batch.isOpen ? .bold : .plain)
        if bar > 0 {
            line.append("  ")
            let part = Bar.Part(count: batch.counts.done, style: batch.isOpen ? .good : .dim)
            line.append(Bar.line([part], of: batch.photos, room: bar))
        }
        for column in columns {
            line.append("  ")
            line.append(aligned(column.text(batch), column), style(column, batch, isHindered))
        }
        // The controls of the batch follow the columns if there is room.
        if width - line.columns >= 2 + Self.shortestName { line.append("  " + batch.controlsText, .warning) }
        return line.cut(to: width)
    }

    private func style(_ column: Column, _ batch: BatchFacts, _ isHindered: Bool) -> StyledLine.Style {
        switch column.name {
        case "state": isHindered ? .warning : batch.stateStyle
        case "failed": .bad
        default: .plain
        }
    }

    private func aligned(_ text: String, _ column: Column) -> String {
        let space = String(repeating: " ", count: max(0, column.width - TextWidth.columns(of: text)))
        return column.isNumber ? space + text : text + space
    }
}

extension BatchFacts {
    /// The state of the batch in one word; `damaged`, `cancelled` or `suspended` replaces the state.
    func stateWord(now: Int, problems: [BatchProblem]) -> String {
        guard damage.isEmpty else { return "damaged" }
        if cancelled { return "cancelled" }
        return suspended && state != .finished ? "suspended" : shownState(now: now, problems: problems).rawValue
    }
}
