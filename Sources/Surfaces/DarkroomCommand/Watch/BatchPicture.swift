import Darkroom

/// The view of one batch in `watch`.
struct BatchPicture {
    private static let label = 12
    private static let longestBar = 100

    private let batch: BatchFacts
    private let snapshot: WatchSnapshot
    private let rates: WatchModel.Rates
    private let width: Int
    private let problems: [BatchProblem]

    init(_ batch: BatchFacts, _ snapshot: WatchSnapshot, rates: WatchModel.Rates, width: Int) {
        self.batch = batch
        self.snapshot = snapshot
        self.rates = rates
        self.width = width
        problems = snapshot.problems
    }

    /// The view of an unfinished batch, in at most `height` lines if possible.
    func lines(height: Int) -> [StyledLine] {
        let lines = Self.parts([heading + warnings, bars, counts + waits])
        let room = height - lines.count
        let workers = WorkerRows(snapshot.workers, batches: [batch], of: batch.id, width: width)
        // The list of workers and the list of failures each need a blank line and a heading. If one list needs fewer
        // rows, the other list gets the remaining rows.
        let rows = max(0, room - (failures.isEmpty ? 2 : 4))
        let forWorkers = failures.isEmpty ? rows : min(workers.count, max(rows / 2, rows - failures.count))
        var parts = [lines]
        if !failures.isEmpty { parts.append(failureHeading + failureRows(max(0, rows - forWorkers))) }
        parts.append(workers.lines(forWorkers))
        return Self.parts(parts)
    }

    /// The lines that stay on the terminal when the batch has finished.
    var summary: [StyledLine] {
        var parts = [heading, bars, counts]
        if !failures.isEmpty { parts.append(failureHeading + failureRows(10)) }
        return Self.parts(parts)
    }

    // MARK: - Parts

    /// The lines of the parts, with a blank line between parts.
    private static func parts(_ parts: [[StyledLine]]) -> [StyledLine] {
        Array(parts.joined(separator: CollectionOfOne(StyledLine(""))))
    }

    private var heading: [StyledLine] {
        let state = StyledLine(batch.stateText(now: snapshot.now, problems: problems), batch.stateStyle)
        let options = batch.options
        var details: [StyledLine] = options.name.isEmpty ? [] : [StyledLine(batch.id.description, .dim)]
        let renditions = options.renditions.map(\.name).joined(separator: ", ")
        details.append(StyledLine(renditions.isEmpty ? options.filters.text : "renditions \(renditions)", .dim))
        if batch.controls.priority != .normal {
            details.append(StyledLine("\(batch.controls.priority.rawValue) priority", .bold))
        }
        if !options.output.isEmpty { details.append(StyledLine(options.output, .dim)) }
        let name = StyledLine(batch.shortName, .bold)
        let isWide = state.columns + 20 <= width
        return (isWide ? [StyledLine.ends(name, state, width: width)] : [name.cut(to: width), state.cut(to: width)])
            + StyledLine.flow(details, width: width)
            + StyledLine.wrapped(batch.controlsText, .warning, width: width, most: 2)
    }

    /// The problems that cannot be seen from the state of the batch.
    private var warnings: [StyledLine] {
        problems.filter { Self.shownProblems.contains($0.code) }.flatMap { problem in
            StyledLine.wrapped(problem.sentence(snapshot.wording), .warning, width: width, most: 3)
        }
    }

    /// The problems that cannot be seen from the state of a batch.
    static let shownProblems: Set<BatchProblem.Code> = [
        .damaged, .inconsistent, .feederSilent, .noWorker, .folderMissing, .folderTaken, .optionMissing, .diskFull,
        .refused, .dependencyStuck, .waitsForHost, .waitsForWorkers,
        .clusterSuspended, .clusterDownloadsSuspended, .clusterFiltrationsSuspended,
    ]

    private var bars: [StyledLine] {
        var stages: [(name: String, text: String, bar: (Int) -> StyledLine)] = []
        if !batch.sealed, batch.isOpen {
            let fed = ["\(HumanText.count(batch.photos, of: "photo")) so far"] + rate(rates.fed.perSecond)
            stages.append(("fed", fed.joined(separator: "  "), { _ in "" }))
        }
        let downloads = progress(batch.downloads) + rate(rates.downloaded.perSecond)
        stages.append(("downloaded", downloads.joined(separator: "  "), downloadBar))
        let perSecond = rates.perSecond(batch, now: snapshot.now)
        var done = progress(batch.counts.done) + rate(perSecond)
        if let left = batch.secondsLeft(at: perSecond, problems: problems) {
            done.append("\(HumanText.duration(left)) left")
        }
        stages.append(("filtered", done.joined(separator: "  "), filterBar))
        // All bars have the same length, so that they can be compared.
        let longest = stages.map { TextWidth.columns(of: $0.text) }.max() ?? 0
        let room = min(Self.longestBar, width - Self.label - longest - 2)
        return stages.map { stage in
            var line = StyledLine(TextWidth.padded(stage.name, to: Self.label))
            let bar = room >= 10 ? stage.bar(room) : ""
            line.append(bar)
            line.append((bar.columns > 0 ? "  " : "") + stage.text)
            return line.cut(to: width)
        }
    }

    private func downloadBar(_ room: Int) -> StyledLine {
        Bar.line([.init(count: batch.downloads, style: .plain)], of: batch.photos, room: room)
    }

    /// A bar of filtered, failed and cancelled photos, each in its colour.
    private func filterBar(_ room: Int) -> StyledLine {
        let counts = batch.counts
        return Bar.line(
            [
                .init(count: counts.filtered, style: .good), .init(count: counts.failed, style: .bad),
                .init(count: counts.cancelled, style: .dim, block: "\u{2592}"),
            ], of: batch.photos, room: room)
    }

    private func progress(_ count: Int) -> [String] {
        let tenths = batch.photos == 0 ? 0 : count * 1000 / batch.photos
        let percent = (1..<100).contains(tenths) ? "\(tenths / 10).\(tenths % 10)" : "\(tenths / 10)"
        return ["\(HumanText.count(count)) of \(HumanText.count(batch.photos))", "\(percent) %"]
    }

    private func rate(_ perSecond: Double?) -> [String] {
        guard batch.state != .finished, let rate = perSecond, rate > 0 else { return [] }
        return [HumanText.rate(rate)]
    }

    private var counts: [StyledLine] {
        let counts = batch.counts
        var photos = [
            StyledLine.item("new", counts.new), .item("downloaded", counts.downloaded),
            .item("filtered", counts.filtered),
        ]
        if counts.failed > 0 { photos.append(.item("failed", counts.failed, .bad)) }
        if counts.cancelled > 0 { photos.append(.item("cancelled", counts.cancelled, .warning)) }
        let ended = batch.operationsEnded
        let queued = max(0, batch.operations - ended - batch.executing)
        var operations = StyledLine("operations ", .dim)
        operations.append("\(HumanText.count(queued)) queued, \(HumanText.count(batch.executing)) executing, ")
        operations.append("\(HumanText.count(ended)) ended")
        var others = [operations]
        if batch.bytesIn > 0 {
            var bytes = StyledLine(HumanText.bytes(batch.bytesIn))
            bytes.append(" in, ", .dim)
            bytes.append(HumanText.bytes(batch.bytesOut))
            bytes.append(" out", .dim)
            others.append(bytes)
        }
        if let seconds = batch.seconds(now: snapshot.now) {
            var took = StyledLine(batch.state == .finished ? "took " : "running ", .dim)
            took.append(HumanText.duration(seconds.rounded(seconds < 10 ? .toNearestOrEven : .down)))
            others.append(took)
        }
        return StyledLine.flow(photos, width: width) + StyledLine.flow(others, width: width)
    }

    /// The reasons for which photos of the batch wait now, and the resource for which they have waited longest.
    private var waits: [StyledLine] {
        guard let finder = snapshot.finder else { return [] }
        let texts = [
            finder.hosts(of: batch.id).waitText, batch.deferral?.text(now: snapshot.now),
            finder.waited(of: batch).text(snapshot.wording).map { "waited most for \($0)" },
        ]
        return texts.compactMap(\.self).flatMap { StyledLine.wrapped($0, .dim, width: width, most: 1) }
    }

    // MARK: - Failures

    private var failures: [WatchSnapshot.Failure] { batch.counts.failed > 0 ? snapshot.failures : [] }

    private var failureHeading: [StyledLine] {
        let total = StyledLine("\(HumanText.count(batch.counts.failed)) failed", .bad)
        let reasons = batch.failuresByCount.map { StyledLine.item($0.reason.word, $0.count) }
        return StyledLine.flow([total] + reasons, width: width, indent: 2)
    }

    private func failureRows(_ room: Int) -> [StyledLine] {
        let shown = failures.prefix(room)
        let number = shown.map { String($0.index).count }.max() ?? 0
        let reason = shown.map(\.reason.count).max() ?? 0
        let longest = shown.map { TextWidth.columns(of: HumanText.safe($0.name)) }.max() ?? 0
        let name = min(longest, max(12, (width - number - reason - 8) / 2))
        return shown.map { failure in
            let index = String(failure.index)
            var line = StyledLine("  " + String(repeating: " ", count: number - index.count) + index + "  ", .dim)
            line.append(TextWidth.padded(HumanText.safe(failure.name), to: name) + "  ")
            line.append(TextWidth.padded(failure.reason, to: reason) + "  ", .bad)
            line.append(failure.detail, .dim)
            return line.cut(to: width)
        }
    }
}

extension BatchFacts {
    var stateStyle: StyledLine.Style {
        if cancelled || !damage.isEmpty { return .bad }
        if suspended { return .warning }
        return state == .finished ? (counts.failed > 0 ? .warning : .good) : .plain
    }
}
