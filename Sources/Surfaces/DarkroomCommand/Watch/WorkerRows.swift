import Darkroom
import DarkroomStore

/// The running workers in `watch`: for each worker, a line with its running work and its operations.
struct WorkerRows {
    private let workers: [WorkerFacts]
    private let names: [String: String]
    private let watched: BatchID?
    private let width: Int

    /// - Parameters:
    ///   - batches: The batches whose names are known.
    ///   - watched: The watched batch. The workers with operations of this batch come first, and these operations are
    ///     shown as numbers, without the name of the batch.
    init(_ workers: [WorkerFacts], batches: [BatchFacts], of watched: BatchID? = nil, width: Int) {
        self.watched = watched
        self.width = width
        let named = batches.filter { !$0.options.name.isEmpty }
        names = Dictionary(named.map { ($0.id.description, $0.shortName) }) { $1 }
        let sorted = workers.sorted { $0.id < $1.id }
        let prefix = watched.map { "\($0)/" }
        let holding = sorted.filter { worker in
            prefix.map { p in worker.operations.contains { $0.hasPrefix(p) } } ?? true
        }
        self.workers = holding + sorted.filter { worker in !holding.contains { $0.id == worker.id } }
    }

    var count: Int { workers.count }

    /// A heading and at most `room` rows. If there are more workers, the last row shows the number of the others.
    func lines(_ room: Int) -> [StyledLine] {
        let rate = workers.reduce(0) { $0 + $1.number("rate") }
        var heading = StyledLine(count == 0 ? "no worker" : HumanText.count(count, of: "worker"), .bold)
        if count == 0 {
            heading.append("   start one with: darkroom worker", .dim)
        } else {
            heading.append("   \(total("downloading")) downloads, \(total("filtering")) filtrations running", .dim)
            if rate > 0 { heading.append("   \(HumanText.rate(Double(rate)))", .dim) }
        }
        let fits = count <= room
        let shown = workers.prefix(fits ? count : max(0, room - 1))
        let id = min(shown.map(\.id.count).max() ?? 0, max(12, width / 4))
        let columns = shown.map { (downloads($0), filtrations($0)) }
        let first = columns.map(\.0.count).max() ?? 0, second = columns.map(\.1.count).max() ?? 0
        let rates = shown.map { HumanText.rate(Double($0.number("rate"))) }
        let third = rates.map(\.count).max() ?? 0
        var rows = shown.enumerated().map { position, worker in
            var line = StyledLine("  " + TextWidth.padded(TextWidth.cutFront(worker.id, to: id), to: id) + "  ")
            line.append(padded(columns[position].0, first) + "  " + padded(columns[position].1, second) + "  ", .dim)
            line.append(padded(rates[position], third) + "  ")
            line.append(work(of: worker))
            return line.cut(to: width)
        }
        if !fits, room > 0 {
            rows.append(StyledLine("  and \(HumanText.count(count - shown.count)) more", .dim).cut(to: width))
        }
        return [heading.cut(to: width)] + rows
    }

    private func downloads(_ worker: WorkerFacts) -> String {
        "\(worker.number("downloading"))/\(worker.number("downloads")) down"
    }

    private func filtrations(_ worker: WorkerFacts) -> String {
        "\(worker.number("filtering"))/\(worker.number("filtrations")) filter"
    }

    /// The operations of the worker, grouped by batch; or the reason why the worker refuses the watched batch.
    private func work(of worker: WorkerFacts) -> StyledLine {
        if let watched, let refusal = worker.refusal(of: watched) {
            return StyledLine("refuses: \(refusal.reason)", .warning)
        }
        var numbers: [(batch: Substring, numbers: [Substring])] = []
        for operation in worker.operations {
            let parts = operation.split(separator: "/", maxSplits: 1)
            guard parts.count == 2 else { continue }
            if let position = numbers.firstIndex(where: { $0.batch == parts[0] }) {
                numbers[position].numbers.append(parts[1])
            } else {
                numbers.append((parts[0], [parts[1]]))
            }
        }
        guard !numbers.isEmpty else { return StyledLine("idle", .dim) }
        var line = StyledLine()
        for (position, group) in numbers.enumerated() {
            if position > 0 { line.append(", ", .dim) }
            if watched?.description != String(group.batch) {
                line.append((names[String(group.batch)] ?? TextWidth.cutFront(String(group.batch), to: 10)) + " ", .dim)
            }
            line.append(group.numbers.joined(separator: " "))
        }
        return line
    }

    private func total(_ field: String) -> Int { workers.reduce(0) { $0 + $1.number(field) } }

    /// The text, padded with spaces at its beginning.
    private func padded(_ text: String, _ columns: Int) -> String {
        String(repeating: " ", count: max(0, columns - text.count)) + text
    }
}
