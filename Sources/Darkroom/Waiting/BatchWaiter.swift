import DarkroomStore
import Foundation

/// Waits until batches have finished. Meanwhile it does what a worker's heartbeats do for others, so that the operations of silent
/// workers are recovered also if no worker is left. Blocks.
package struct BatchWaiter {
    /// How the waiting ended.
    package enum Outcome: Sendable {
        /// All have finished or are damaged, or `isEnough` said so; their facts in the order asked for.
        case finished([BatchFacts], now: Int)
        /// The time passed first; the facts that were read last.
        case timedOut([BatchFacts], now: Int)
    }

    private static let pause = Duration.milliseconds(250)
    /// Reading many batches takes long. The pause after a reading is this multiple of its duration, ``longestPause`` at most.
    private static let pauseOfReadings = 20.0
    private static let longestPause = Duration.seconds(3)
    /// Finding out what hinders a batch reads every worker.
    private static let problemsEvery = Duration.seconds(3)
    private static let heartbeatEvery = Duration.seconds(3)
    private static let heartbeatsAtOnce = 100

    private let client: DarkroomClient
    private let warnFrom: ContinuousClock.Instant
    private let warn: ((String) -> Void)?
    private let isFeeding: () -> Bool
    private let onAway: () throws -> Void
    private var warned: Set<Warned> = []
    private var hasToldOutage = false
    /// What hinders the batches, as it was read last: all workers are read for it.
    private var problems: [BatchProblem] = []
    private var nextProblems = ContinuousClock.now

    /// - Parameters:
    ///   - warnAfter: how long to say nothing of what hinders a batch: workers need a moment to begin.
    ///   - warn: gets a line for each thing that hinders a batch, once, and when Redis goes and comes back; nil looks for nothing
    ///     that hinders.
    ///   - isFeeding: whether this program feeds the batch at the moment. Then its feeder tells of outages, and submits a batch
    ///     again that a failover lost.
    ///   - onAway: called each time Redis does not answer; what it throws ends the waiting.
    package init(
        _ client: DarkroomClient, warnAfter: Duration = .zero, warn: ((String) -> Void)? = nil,
        isFeeding: @escaping () -> Bool = { false }, onAway: @escaping () throws -> Void = {}
    ) {
        self.client = client
        self.isFeeding = isFeeding
        self.onAway = onAway
        warnFrom = .now + warnAfter
        self.warn = warn
    }
    /// Blocks until one batch has finished, or `isEnough`, which is asked with how it stands and what hinders it.
    /// - Throws: also what `isEnough` throws, at once.
    package mutating func wait(
        for batch: BatchFacts, isEnough: (BatchFacts, [BatchProblem]) throws -> Bool
    ) throws -> BatchFacts {
        switch try wait(for: [batch], timeout: nil, isEnough: { try isEnough($0[0], $1) }) {
        case .finished(let batches, _), .timedOut(let batches, _): return batches[0]  // as many as were asked for
        }
    }

    /// Blocks until all have finished, at once when they have; `timeout` nil waits for ever.
    ///
    /// When Redis goes away it is tried again until it is back.
    /// - Throws: ``DarkroomError`` when a batch is forgotten meanwhile; ``StoreError`` when Redis refuses.
    package mutating func wait(
        for batches: [BatchFacts], timeout: Duration?,
        isEnough: ([BatchFacts], [BatchProblem]) throws -> Bool = { _, _ in false }
    ) throws -> Outcome {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        var latest = Dictionary(uniqueKeysWithValues: batches.map { ($0.id, $0) })
        var now = 0
        var nextHeartbeat = ContinuousClock.now
        while true {
            var pause = Self.pause
            do {
                if nextHeartbeat <= .now {
                    try maintain()
                    nextHeartbeat = .now + Self.heartbeatEvery
                }
                let began = ContinuousClock.now
                now = try client.store.time()
                try refresh(&latest)
                pause = min(max(pause, (.now - began) * Self.pauseOfReadings), Self.longestPause)
                if warn != nil, nextProblems <= .now { try findProblems(of: latest, now: now) }
                noteBack()
                let all = batches.compactMap { latest[$0.id] }
                let isEnough = try isEnough(all, problems)
                if isEnough || all.allSatisfy({ $0.state == .finished || !$0.damage.isEmpty }) {
                    return .finished(all, now: now)
                }
            } catch let error as StoreError where error.isPassing {
                try noteAway(error)
            }
            if let deadline, deadline <= .now { return .timedOut(batches.compactMap { latest[$0.id] }, now: now) }
            // Redis has no signal for a client to wait for that also survives its restarts.
            Self.sleep(min(pause, deadline.map { $0 - .now } ?? pause))
        }
    }

    /// Asks Redis something, again and again while it is away.
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
        if !hasToldOutage, !isFeeding() {
            warn?("Redis cannot be used, trying again until it can: \(error)")
            hasToldOutage = true
        }
        try onAway()
    }

    private mutating func noteBack() {
        if hasToldOutage { warn?("Redis \(client.location) is back") }
        hasToldOutage = false
    }

    private static func sleep(_ duration: Duration) { Thread.sleep(forTimeInterval: duration / .seconds(1)) }

    /// Does what a worker's heartbeats do for others; each does a bounded step, and many may be due.
    private func maintain() throws {
        for _ in 0..<Self.heartbeatsAtOnce where try !client.store.maintain() { return }
    }

    /// Reads the facts of those that have not finished.
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

    /// Reads what hinders batches, and says what is new of it.
    private mutating func findProblems(of latest: [BatchID: BatchFacts], now: Int) throws {
        let batches = latest.values.sorted { $0.id < $1.id }
        let open = batches.filter { $0.state != .finished }
        problems = try client.store.problems(of: open, now: now).of(batches)
        if warnFrom <= .now { warn(of: problems, among: batches) }
        // What is said first is read then.
        nextProblems = .now + Self.problemsEvery
        if .now < warnFrom { nextProblems = min(nextProblems, warnFrom) }
    }

    /// Says each problem once while it lasts.
    private mutating func warn(of problems: [BatchProblem], among batches: [BatchFacts]) {
        for problem in problems where !warned.contains(Warned(problem)) { warn?(problem.sentence(among: batches)) }
        warned = Set(problems.map(Warned.init))
    }
}

/// A problem that was told; its text may change while it lasts.
private struct Warned: Hashable {
    let batch: BatchID?
    let code: BatchProblem.Code

    init(_ problem: BatchProblem) {
        batch = problem.batch
        code = problem.code
    }
}
