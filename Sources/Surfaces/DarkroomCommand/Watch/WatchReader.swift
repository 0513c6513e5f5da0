import Darkroom
import Foundation

/// Reads the snapshots of `watch`: for most snapshots only the facts that may have changed, and every 10 s all facts.
struct WatchReader {
    private static let heartbeatEvery = Duration.seconds(3)
    private static let everythingEvery = Duration.seconds(10)
    private static let allFailuresEvery = Duration.seconds(5)

    private let client: DarkroomClient
    private let watched: BatchID?
    private let keptFailures: Int
    private var nextHeartbeat = ContinuousClock.now
    private var nextEverything = ContinuousClock.now
    /// The facts of finished batches. They rarely change, so they are not read for each snapshot.
    private var finished: [BatchID: BatchFacts] = [:]
    private var lastSeen: BatchFacts?
    /// Failures, the newest first.
    private var failures: [WatchSnapshot.Failure] = []
    /// Photos that have failed according to events, but whose failures are not in Redis yet.
    private var pendingFailures: [(index: Int, reason: FailureReason)] = []
    private var failedBefore = 0
    private var nextAllFailures = ContinuousClock.now

    init(_ client: DarkroomClient, watched: BatchID?, keptFailures: Int) {
        self.client = client
        self.watched = watched
        self.keptFailures = keptFailures
    }

    /// Reads the current state. Blocks.
    /// - Parameters:
    ///   - all: Read everything again, because events may have been missed.
    ///   - changed: Batches with events.
    ///   - failed: Photos of the watched batch that have failed according to events, the newest last.
    mutating func read(
        all: Bool, changed: Set<BatchID>, failed: [(index: Int, reason: FailureReason)]
    ) throws -> WatchSnapshot {
        if nextHeartbeat <= .now {
            _ = try client.store.maintain()
            nextHeartbeat = .now + Self.heartbeatEvery
        }
        let now = try client.store.time()
        let batches = try watched.map { [try facts(of: $0)] } ?? allFacts(all: all, changed: changed)
        let problems = try client.store.problems(of: batches, now: now)
        var snapshot = WatchSnapshot(now: now, batches: batches, workers: problems.workers)
        snapshot.finder = problems
        snapshot.cluster = problems.cluster
        if watched != nil {
            snapshot.failures = try failures(of: batches[0], all: all, failed)
        }
        return snapshot
    }

    private mutating func facts(of id: BatchID) throws -> BatchFacts {
        if let facts = try client.store.facts(of: id) {
            lastSeen = facts
            return facts
        }
        let seen =
            lastSeen.map { "; it had \($0.counts.final) of \(HumanText.count($0.photos, of: "photo")) done" } ?? ""
        throw CommandError("batch \(lastSeen?.label ?? id.description) was forgotten while it was watched\(seen)")
    }

    // MARK: - All batches

    private mutating func allFacts(all: Bool, changed: Set<BatchID>) throws -> [BatchFacts] {
        if all || nextEverything <= .now {
            finished = [:]
            nextEverything = .now + Self.everythingEvery
        }
        for id in changed { finished[id] = nil }
        let ids = try client.store.batchIDs()
        var found = finished
        for facts in try client.store.facts(of: ids.filter { finished[$0] == nil }) {
            found[facts.id] = facts
            if facts.state == .finished { finished[facts.id] = facts }
        }
        return ids.compactMap { found[$0] }
    }

    // MARK: - Failures of one batch

    private mutating func failures(
        of batch: BatchFacts, all: Bool, _ failed: [(index: Int, reason: FailureReason)]
    ) throws -> [WatchSnapshot.Failure] {
        let count = batch.counts.failed
        // The count falls after a retry. If the count grows without an event, events were lost. In both cases, all
        // failures must be read again.
        let isUnexplained = count < failedBefore || (count > failedBefore && failed.isEmpty && pendingFailures.isEmpty)
        if all || (isUnexplained && nextAllFailures <= .now) {
            try readAllFailures(of: batch.id)
            failedBefore = count
            nextAllFailures = .now + Self.allFailuresEvery
        } else {
            if !isUnexplained { failedBefore = count }
            pendingFailures += failed
            pendingFailures.removeFirst(max(0, pendingFailures.count - keptFailures))
            try readPendingFailures(of: batch.id)
        }
        return failures
    }

    /// Reads all failures that Redis keeps, the highest indexes first, because the order in time is unknown.
    private mutating func readAllFailures(of batch: BatchID) throws {
        failures = try client.store.failures(of: batch).suffix(keptFailures).reversed().map {
            failure($0.index, nil, $0.json)
        }
    }

    private mutating func readPendingFailures(of batch: BatchID) throws {
        let texts = try client.store.failures(of: batch, indexes: pendingFailures.map(\.index))
        var left: [(index: Int, reason: FailureReason)] = []
        for (photo, text) in zip(pendingFailures, texts) {
            guard let text else {
                left.append(photo)
                continue
            }
            failures.removeAll { $0.index == photo.index }
            failures.insert(failure(photo.index, photo.reason, text), at: 0)
        }
        pendingFailures = left
        failures.removeLast(max(0, failures.count - keptFailures))
    }

    private func failure(_ index: Int, _ reason: FailureReason?, _ json: String) -> WatchSnapshot.Failure {
        // Another version of Darkroom may have written a different format; the photo is shown without its details.
        let stored = PhotoFailure(index: index, json: json)
        return WatchSnapshot.Failure(
            index: index, name: stored?.name ?? "", reason: (reason ?? stored?.reason ?? .other).word,
            detail: stored?.detail ?? "")
    }
}
