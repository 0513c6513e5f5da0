import Darkroom

/// The view of all batches and workers in `watch`.
struct ClusterPicture {
    private let snapshot: WatchSnapshot
    private let rates: [BatchID: WatchModel.Rates]
    private let redis: String
    private let namespace: String
    private let width: Int
    private let problems: [BatchProblem]

    init(_ snapshot: WatchSnapshot, rates: [BatchID: WatchModel.Rates], redis: String, namespace: String, width: Int) {
        self.snapshot = snapshot
        self.rates = rates
        self.redis = redis
        self.namespace = namespace
        self.width = width
        problems = snapshot.problems
    }

    /// The view, in at most `height` lines if possible.
    func lines(height: Int) -> [StyledLine] {
        var lines = heading + [""]
        let workers = WorkerRows(snapshot.workers, batches: snapshot.batches, width: width)
        let room = max(0, height - lines.count - 3)  // two headings and the blank line between the lists
        let reasons = self.reasons(room / 4)
        let forWorkers = min(workers.count, max(room / 3, room - reasons.count - batches.count))
        lines += batchRows(room - reasons.count - forWorkers) + reasons + [""] + workers.lines(forWorkers)
        return lines
    }

    /// The reasons why batches make no progress: the problems that cannot be seen from the states of the batches.
    private func reasons(_ room: Int) -> [StyledLine] {
        let shown = problems.filter { BatchPicture.shownProblems.contains($0.code) && $0.batch != nil }
        let lines = shown.flatMap { problem in
            StyledLine.wrapped(
                problem.sentence(among: snapshot.batches, snapshot.wording), .warning, width: width, most: 2)
        }
        guard lines.count > room else { return lines }
        let more = StyledLine("  and more; to list them: darkroom status", .warning).cut(to: width)
        return room == 0 ? [] : Array(lines.prefix(room - 1)) + [more]
    }

    // MARK: - Cluster

    private var heading: [StyledLine] {
        let open = snapshot.batches.filter { $0.state != .finished }
        let counts = open.map(\.counts)
        let unfinished = open.isEmpty ? "nothing to do" : "\(HumanText.count(open.count, of: "batch")) to do"
        var left = StyledLine(unfinished, .bold)
        left.append(", \(HumanText.count(snapshot.batches.count - open.count)) finished", .dim)
        let place = StyledLine("\(redis)  \(namespace)", .dim)
        let failed = counts.reduce(0) { $0 + $1.failed }
        var items = [
            StyledLine.item("new", counts.reduce(0) { $0 + $1.new }),
            .item("downloaded", counts.reduce(0) { $0 + $1.downloaded }),
            .item("filtered", counts.reduce(0) { $0 + $1.filtered }),
        ]
        if failed > 0 { items.append(.item("failed", failed, .bad)) }
        let rate = open.compactMap { rates[$0.id]?.perSecond($0, now: snapshot.now) }.reduce(0, +)
        if rate > 0 { items.append(StyledLine(HumanText.rate(rate), .good)) }
        var lines = [StyledLine.ends(left, place, width: width)]
        if !open.isEmpty { lines += StyledLine.flow(items, width: width) }
        if failed > 0 { lines += reasons(of: open) }
        if !conditions.isEmpty {
            lines += StyledLine.wrapped(conditions.joined(separator: ", "), .warning, width: width, most: 2)
        }
        return lines
    }

    private func reasons(of batches: [BatchFacts]) -> [StyledLine] {
        var total: [FailureReason: Int] = [:]
        for batch in batches { total.merge(batch.failures) { $0 + $1 } }
        let sorted = total.filter { $0.value > 0 }.sorted { ($1.value, $0.key.word) < ($0.value, $1.key.word) }
        return StyledLine.flow(sorted.map { .item($0.key.word, $0.value, .bad) }, width: width)
    }

    private var conditions: [String] {
        let cluster = snapshot.cluster
        var conditions: [String] = []
        if cluster.isSuspended { conditions.append("all workers are suspended") }
        if cluster.areDownloadsSuspended { conditions.append("all downloads are suspended") }
        if cluster.areFiltrationsSuspended { conditions.append("all filtrations are suspended") }
        if let limit = cluster.downloads {
            conditions.append("at most \(HumanText.count(limit, of: "download")) per worker")
        }
        if let limit = cluster.filtrations {
            conditions.append("at most \(HumanText.count(limit, of: "filtration")) per worker")
        }
        return conditions
    }

    // MARK: - Batches

    /// The unfinished batches in the order of submission, then the finished batches, the newest first.
    private var batches: [BatchFacts] {
        snapshot.batches.filter { $0.state != .finished } + snapshot.batches.filter { $0.state == .finished }.reversed()
    }

    private func batchRows(_ room: Int) -> [StyledLine] {
        guard !batches.isEmpty else {
            return [
                StyledLine("no batch", .bold),
                StyledLine("  darkroom submit LIST -o FOLDER submits one", .dim).cut(to: width),
            ]
        }
        let fits = batches.count <= room
        let shown = Array(batches.prefix(fits ? batches.count : max(0, room - 1)))
        let hindered = Set(problems.compactMap { BatchPicture.shownProblems.contains($0.code) ? $0.batch : nil })
        let table = BatchColumns(shown, rates: rates, problems: problems, now: snapshot.now, width: width)
        var rows = [table.heading]
        rows += shown.map { table.row($0, isHindered: hindered.contains($0.id)) }
        if !fits {
            rows.append(StyledLine("  and \(HumanText.count(batches.count - shown.count)) more", .dim).cut(to: width))
        }
        return rows
    }
}
