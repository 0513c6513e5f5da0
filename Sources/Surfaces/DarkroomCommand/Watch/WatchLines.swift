import ArgumentParsing
import Darkroom
import Foundation

/// `watch` without a terminal: prints a line when a batch has changed, at most one line per second for each batch.
struct WatchLines {
    private static let linesEvery = Duration.seconds(1)

    private var model: WatchModel
    private let inbox: WatchInbox
    private let output: StandardOutput
    private var printed: [BatchID: String] = [:]
    private var nextLines = ContinuousClock.now
    private var isAway = false

    init(_ model: WatchModel, _ inbox: WatchInbox, output: StandardOutput) {
        self.model = model
        self.inbox = inbox
        self.output = output
    }

    /// Runs until the watched batch has finished or the program is interrupted.
    /// - Returns: The exit status of the program.
    mutating func run() throws -> ExitCode {
        while true {
            for message in inbox.wait(.seconds(60), keys: -1) {
                switch message {
                case .read(let snapshot):
                    if isAway { printToStandardError("Redis \(model.redis) is back") }
                    isAway = false
                    if let end = try take(snapshot) { return end }
                case .lost(let error):
                    if !isAway { printToStandardError("Redis cannot be used, trying again until it can: \(error)") }
                    isAway = true
                case .failed(let error): throw error
                case .signal(SIGWINCH), .signal(SIGCONT): break
                case .signal(SIGTSTP): kill(getpid(), SIGSTOP)
                case .signal: return .interrupted
                case .note, .keys, .keysEnded: break  // there are no keys
                }
            }
        }
    }

    private mutating func take(_ snapshot: WatchSnapshot) throws -> ExitCode? {
        model.take(snapshot)
        if let batch = model.batch, batch.state == .finished {
            try output.line(batch.summary(now: snapshot.now, problems: []))
            try output.flush()
            return ExitCode(of: batch)
        }
        guard nextLines <= .now else { return nil }
        nextLines = .now + Self.linesEvery
        for line in newLines(snapshot) { try output.line("\(HumanText.localTime(snapshot.now)) \(line)") }
        try output.flush()
        return nil
    }

    /// A line for each batch that has changed since its last line.
    private mutating func newLines(_ snapshot: WatchSnapshot) -> [String] {
        var lines: [String] = []
        let problems = snapshot.problems, wording = snapshot.wording
        for batch in snapshot.batches {
            let before = printed[batch.id]
            let text = Self.text(batch, now: snapshot.now, problems) { problem in
                // The sentence about a host is not compared, because it contains times.
                problem.code == .waitsForHost ? problem.code.rawValue : problem.sentence(wording)
            }
            guard before != text else { continue }
            printed[batch.id] = text
            // A batch that had finished before the first snapshot has not changed.
            if before == nil, batch.state == .finished { continue }
            let line = Self.text(batch, now: snapshot.now, problems, describing: { $0.sentence(wording) })
            lines.append(line + pace(batch, snapshot.now, problems))
        }
        let gone = printed.keys.filter { id in !snapshot.batches.contains { $0.id == id } }
        for id in gone.sorted() {
            printed[id] = nil
            lines.append("\(id): forgotten")
        }
        return lines
    }

    /// The state of a batch, without values that change all the time, such as rates.
    private static func text(
        _ batch: BatchFacts, now: Int, _ problems: [BatchProblem], describing: (BatchProblem) -> String
    ) -> String {
        let counts = batch.counts
        var parts = [
            batch.stateText(now: now, problems: problems),
            "\(HumanText.count(batch.photos, of: "photo"))\(batch.sealed ? "" : " so far")",
            "\(HumanText.count(batch.downloads)) downloaded", "\(HumanText.count(counts.filtered)) filtered",
        ]
        if counts.failed > 0 { parts.append("\(HumanText.count(counts.failed)) failed (\(batch.reasonsText))") }
        if counts.cancelled > 0 { parts.append("\(HumanText.count(counts.cancelled)) cancelled") }
        if !batch.controlsText.isEmpty { parts.append(batch.controlsText) }
        for problem in problems where problem.batch == batch.id && BatchPicture.shownProblems.contains(problem.code) {
            parts.append(describing(problem))
        }
        return "\(batch.label): " + parts.joined(separator: ", ")
    }

    private func pace(_ batch: BatchFacts, _ now: Int, _ problems: [BatchProblem]) -> String {
        let rate = model.rates[batch.id]?.perSecond(batch, now: now)
        guard batch.isOpen, let rate, rate > 0 else { return "" }
        let left = batch.secondsLeft(at: rate, problems: problems).map { ", \(HumanText.duration($0)) left" } ?? ""
        return ", \(HumanText.rate(rate))\(left)"
    }
}
