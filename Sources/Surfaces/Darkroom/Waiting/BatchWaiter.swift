import DarkroomStore
import Foundation

/// Waits until batches have finished. While it waits, it performs the maintenance that heartbeats of workers do, so
/// that operations of lost workers are recovered even if no worker is running. Blocks.
package struct BatchWaiter {
    package enum Outcome: Sendable {
        /// All batches have finished or are damaged, or `isEnough` returned true. The facts are in the given order.
        case finished([BatchFacts], now: Int)
        /// The timeout has passed. The first associated value contains the facts that were read last.
        case timedOut([BatchFacts], now: Int)
    }

    private static let pause = Duration.milliseconds(250)
    /// Reading the facts of many batches is expensive. The pause after a reading is this factor times the duration of
    /// the reading, but at most ``longestPause``.
    private static let readingPauseFactor = 20.0
    private static let longestPause = Duration.seconds(3)
    /// The interval at which the problems are read, together with the state of all workers.
    private static let problemInterval = Duration.seconds(3)
    private static let heartbeatInterval = Duration.seconds(3)
    private static let heartbeatsAtOnce = 100

    private let client: DarkroomClient
    private let warnFrom: ContinuousClock.Instant
    private let wording: RemedyWording
    private let warn: ((String) -> Void)?
    private let isFeeding: () -> Bool
    private let onAway: () throws -> Void
    /// The problems that were reported last. The text of a problem may change while the problem lasts.
    private var warned: [BatchProblem] = []
    private var hasReportedOutage = false
    /// The problems of the batches when they were last read.
    private var problems: [BatchProblem] = []
    private var nextProblems = ContinuousClock.now

    /// - Parameters:
    ///   - warnAfter: the time before the first warning about a problem, so that workers have time to start.
    ///   - wording: the words for remedies in the warnings.
    ///   - warn: called with one line for each problem of a batch, and when Redis becomes unreachable or reachable; nil
    ///     if problems need not be detected.
    ///   - isFeeding: returns whether this program is feeding the batch. In this case, its feeder reports outages, and
    ///     submits the batch again if a failover has lost it.
    ///   - onAway: called after each attempt that finds Redis unreachable. If `onAway` throws, the wait ends.
    package init(
        _ client: DarkroomClient, warnAfter: Duration = .zero,
        wording: RemedyWording = .neutral, warn: ((String) -> Void)? = nil,
        isFeeding: @escaping () -> Bool = { false }, onAway: @escaping () throws -> Void = {}
    ) {
        self.client = client
        self.isFeeding = isFeeding
        self.onAway = onAway
        warnFrom = .now + warnAfter
        self.wording = wording
        self.warn = warn
    }

    /// Blocks until a batch has finished, or until `isEnough` returns true for its facts, its problems and the Redis time
    /// at which they were read.
    /// - Throws: the errors of the other `wait`, and any error that `isEnough` throws.
    package mutating func wait(
        for batch: BatchFacts, isEnough: (BatchFacts, [BatchProblem], _ now: Int) throws -> Bool
    ) throws -> BatchFacts {
        switch try wait(for: [batch], timeout: nil, isEnough: { try isEnough($0[0], $1, $2) }) {
        case .finished(let batches, _), .timedOut(let batches, _): return batches[0]  // one result per batch
        }
    }

    /// Blocks until all batches have finished. Returns at once if they have already finished. If `timeout` is nil,
    /// there is no time limit.
    ///
    /// If Redis is unreachable, the call retries until Redis is reachable.
    /// - Throws: ``DarkroomError`` if a batch is forgotten during the wait; ``StoreError`` if Redis replies with an
    ///   error.
    package mutating func wait(
        for batches: [BatchFacts], timeout: Duration?,
        isEnough: ([BatchFacts], [BatchProblem], _ now: Int) throws -> Bool = { _, _, _ in false }
    ) throws -> Outcome {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        var latest = Dictionary(uniqueKeysWithValues: batches.map { ($0.id, $0) })
        var now = 0
        var nextHeartbeat = ContinuousClock.now
        while true {
            var pause = Self.pause
            do {
                if nextHeartbeat <= .now {
                    try Self.maintain(client.store)
                    nextHeartbeat = .now + Self.heartbeatInterval
                }
                let began = ContinuousClock.now
                now = try client.store.time()
                try refresh(&latest)
                pause = min(max(pause, (.now - began) * Self.readingPauseFactor), Self.longestPause)
                if warn != nil, nextProblems <= .now { try findProblems(of: latest, now: now) }
                noteBack()
                let all = batches.compactMap { latest[$0.id] }
                let isEnough = try isEnough(all, problems, now)
                if isEnough || all.allSatisfy({ $0.state == .finished || !$0.damage.isEmpty }) {
                    return .finished(all, now: now)
                }
            } catch let error as StoreError where error.isPassing {
                try noteAway(error)
            }
            if let deadline, deadline <= .now { return .timedOut(batches.compactMap { latest[$0.id] }, now: now) }
            // The state is polled, because no signal from Redis survives a restart of Redis.
            Self.sleep(min(pause, deadline.map { $0 - .now } ?? pause))
        }
    }

    package mutating func asking<Answer>(_ question: () throws -> Answer) throws -> Answer {
        while true {
            do {
                let answer = try question()
                noteBack()
                return answer
            } catch let error as StoreError where error.isPassing {
                try noteAway(error)
            }
            Self.sleep(Self.pause)
        }
    }

    private mutating func noteAway(_ error: StoreError) throws {
        if !hasReportedOutage, !isFeeding() {
            warn?("Redis cannot be used, trying again until it can: \(error)")
            hasReportedOutage = true
        }
        try onAway()
    }

    private mutating func noteBack() {
        if hasReportedOutage { warn?("Redis \(client.location) is back") }
        hasReportedOutage = false
    }

    private static func sleep(_ duration: Duration) { Thread.sleep(forTimeInterval: duration / .seconds(1)) }

    /// Performs the maintenance that heartbeats do, in bounded steps.
    static func maintain(_ store: BatchStore) throws {
        for _ in 0..<Self.heartbeatsAtOnce where try !store.maintain() { return }
    }

    private func refresh(_ latest: inout [BatchID: BatchFacts]) throws {
        let open = latest.values.filter { $0.state != .finished && $0.damage.isEmpty }
        let found = try client.store.facts(of: open.map(\.id))
        for facts in found { latest[facts.id] = facts }
        let there = Set(found.map(\.id))
        if let gone = open.first(where: { !there.contains($0.id) }), !isFeeding() {
            throw DarkroomError(
                .noSuchBatch, "wait for batch \(gone.id)",
                "batch \(gone.label) was forgotten while it was waited for; it had \(gone.counts.final) of "
                    + "\(HumanText.count(gone.photos, of: "photo")) done when it was last seen")
        }
    }

    /// Reads the problems of the batches, and reports the new problems.
    private mutating func findProblems(of latest: [BatchID: BatchFacts], now: Int) throws {
        let batches = latest.values.sorted { $0.id < $1.id }
        let open = batches.filter { $0.state != .finished }
        problems = try client.store.problems(of: open, now: now).of(batches)
        if warnFrom <= .now { warn(of: problems, among: batches) }
        // The problems are read again before the first warning, so that the warning is not outdated.
        nextProblems = .now + Self.problemInterval
        if .now < warnFrom { nextProblems = min(nextProblems, warnFrom) }
    }

    private mutating func warn(of problems: [BatchProblem], among batches: [BatchFacts]) {
        for problem in problems
        where !warned.contains(where: { $0.batch == problem.batch && $0.code == problem.code }) {
            warn?(problem.sentence(among: batches, wording))
        }
        warned = problems
    }
}
