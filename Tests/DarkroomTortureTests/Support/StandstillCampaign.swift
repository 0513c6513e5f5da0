import Darkroom
import DarkroomConcurrency
import Foundation
import FuzzSupport
import Testing

@testable import StoreInspection

/// Suspends a worker for longer than its lease while another worker runs, and resumes it.
final class StandstillCampaign {
    /// The results of a campaign.
    struct Outcome {
        var standstills = 0
        /// The number of operations that suspended workers lost.
        var taken = 0
        /// The number of unreported photos of these operations.
        var unreported = 0
        /// The number of suspensions while a worker was writing a temporary file.
        var inFiles = 0
        /// The number of log lines in which resumed workers reported lost operations.
        var refusals = 0
        var photos = 0
        var repeats = 0
    }

    private let cluster: TortureCluster
    private let lease: Duration
    private var random: SeededGenerator
    private var outcome = Outcome()

    init(_ cluster: TortureCluster, lease: Duration, random: SeededGenerator) {
        self.cluster = cluster
        self.lease = lease
        self.random = random
    }

    /// Suspends workers until the run is complete. In every second suspension, the worker resumes after its batch has
    /// finished; in the others, while other workers execute operations of the batch.
    func perform(_ run: TortureRun) throws -> Outcome {
        while run.goesOn(after: outcome.standstills) {
            try standstill(isFinishedAtResume: outcome.standstills.isMultiple(of: 2))
            outcome.standstills += 1
        }
        return outcome
    }

    private func standstill(isFinishedAtResume: Bool) throws {
        while cluster.workers.count < 2 { try cluster.startWorker() }
        let victim = random.pick(cluster.workers)
        let (batch, held, stopped) = try stop(victim, photos: isFinishedAtResume ? 600 : 5000)
        outcome.taken += held.count
        outcome.unreported += held.reduce(0) { $0 + $1.unreported }
        let inFiles = try hiddenFiles(of: victim, in: batch)
        outcome.inFiles += inFiles.isEmpty ? 0 : 1

        // Keeps the worker suspended for 4 s longer than its lease.
        Signal().wait(timeout: stopped + lease + .seconds(4) - .now)
        try wait(victim, "to lose its operations", for: .seconds(60)) {
            zip(held, try cluster.holders(of: held.map(\.held))).allSatisfy { operation, holder in
                holder != nil && holder != operation.held.fencingToken
            }
        }
        var before: Snapshot?
        if isFinishedAtResume {
            try cluster.waitUntilFinished(batch, within: .seconds(120))
            before = try snapshot(of: batch)
        }
        let said = victim.logged.utf8.count
        victim.resume()
        try wait(victim, "to log that it lost its operations", for: .seconds(20)) {
            // For each lost operation, the worker logs that it has ended or that the worker no longer holds it.
            refusals(of: victim, after: said) > 0
                || lines(of: victim, after: said).contains {
                    $0.contains("operation ended") || $0.contains("operation no longer held")
                }
        }
        try wait(victim, "to remove its temporary files", for: .seconds(20)) {
            try hiddenFiles(of: victim, in: batch).isEmpty
        }
        if !isFinishedAtResume { try cluster.waitUntilFinished(batch, within: .seconds(120)) }
        try runABatchAlone(victim)
        outcome.refusals += refusals(of: victim, after: said)
        if let before { try compare(before, snapshot(of: batch), inFiles: inFiles) }
        try verifyAndForget(batch)
    }

    /// Suspends the worker while it holds an operation. If a batch finishes too early, submits another batch.
    private func stop(
        _ victim: TortureWorker, photos: Int
    ) throws -> (BatchID, [HeldOperationContent], ContinuousClock.Instant) {
        _ = try victim.id  // waits for the start
        for _ in 0..<10 {
            let batch = try cluster.submit(photos: photos, operationSize: random.pick([10, 20, 50]))
            if let (held, stopped) = try stop(victim, in: batch) { return (batch, held, stopped) }
            try verifyAndForget(batch)
        }
        throw TortureFailure("ten batches of \(photos) photos finished before the worker was suspended")
    }

    /// Suspends the worker while it holds an operation of the batch. In half of the cases, waits up to 1 s until the
    /// worker is writing a file. Returns nil if the batch finishes before the worker is suspended.
    private func stop(
        _ victim: TortureWorker, in batch: BatchID
    ) throws -> ([HeldOperationContent], ContinuousClock.Instant)? {
        let awaitsFile = random.chance(50)
        let deadline = ContinuousClock.now + .seconds(20)
        let patience = ContinuousClock.now + .seconds(1)
        while ContinuousClock.now < deadline {
            let stopped = ContinuousClock.now
            try victim.suspend()
            let held = try cluster.operations(heldBy: victim).filter { $0.held.batch == batch && $0.unreported > 0 }
            let isWriting = try !hiddenFiles(of: victim, in: batch).isEmpty
            if !held.isEmpty, isWriting || !awaitsFile || .now > patience { return (held, stopped) }
            victim.resume()
            if try cluster.store.facts(of: batch)?.state == .finished { return nil }
            Signal().wait(timeout: .microseconds(random.number(in: 500..<10_000)))
        }
        throw TortureFailure("the worker \(victim.processIdentifier) held no operation of \(batch) for 20 s")
    }

    /// Runs a batch with this worker alone.
    private func runABatchAlone(_ victim: TortureWorker) throws {
        let others = cluster.workers.filter { $0 !== victim }
        for worker in others { worker.stop() }
        for worker in others where !worker.waitForEnd(within: .seconds(30)) {
            throw TortureFailure(
                "the worker \(worker.processIdentifier) has not stopped: \(worker.logged.suffix(1000))")
        }
        let batch = try cluster.submit(photos: 60, operationSize: 10)
        try cluster.waitUntilFinished(batch, within: .seconds(60))
        try verifyAndForget(batch)
    }

    private func verifyAndForget(_ batch: BatchID) throws {
        let verification = try cluster.verify(batch)
        guard verification.problems.isEmpty else { throw TortureFailure("batch \(batch) has problems") }
        outcome.photos += verification.photos
        outcome.repeats += verification.repeats
        try cluster.forget(batch)
    }

    // MARK: Comparison

    /// The data and files of a batch, which must not change after the batch has finished.
    private struct Snapshot {
        let content: BatchContent?
        /// For each path: inode, size, and the time of the last change of the file or its name.
        var files: [String: [Int]] = [:]
    }

    private func snapshot(of batch: BatchID) throws -> Snapshot {
        var snapshot = Snapshot(content: try StoreReader(cluster.store).read().batches[batch])
        let output = try cluster.submission(of: batch).output
        for name in try FileManager.default.subpathsOfDirectory(atPath: output) {
            var status = stat()
            guard lstat(output + "/" + name, &status) == 0 else { continue }
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            if isFolder || name.split(separator: "/").last?.hasPrefix(".") == true { continue }
            snapshot.files[name] = [
                Int(status.st_ino), Int(status.st_size), Int(status.st_ctim.tv_sec), Int(status.st_ctim.tv_nsec),
            ]
        }
        return snapshot
    }

    /// - Parameter inFiles: The temporary files of the suspended worker, which may still rename each of them.
    private func compare(_ before: Snapshot, _ after: Snapshot, inFiles: [String]) {
        #expect(
            before.content != nil && after.content == before.content, "Redis accepted a report of the resumed worker")
        let begun = inFiles.compactMap { $0.split(separator: "/").last?.split(separator: ".").first.map(String.init) }
        let touched = Set(before.files.keys).union(after.files.keys).filter { name in
            let last = name.split(separator: "/").last.map(String.init) ?? name
            let number = last.prefix { $0.isNumber }.drop { $0 == "0" }
            let what = name.hasPrefix("manifest/") ? "manifest-\(number)" : number.isEmpty ? "0" : "\(number)"
            return before.files[name] != after.files[name] && !begun.contains(what)
        }
        #expect(
            touched.isEmpty, "the resumed worker changed \(touched.count) final files: \(touched.sorted().prefix(5))")
    }

    private func hiddenFiles(of worker: TortureWorker, in batch: BatchID) throws -> [String] {
        let id = try worker.id
        return try FileManager.default.subpathsOfDirectory(atPath: cluster.submission(of: batch).output).filter {
            name in
            name.split(separator: "/").last.map { $0.hasPrefix(".") && $0.contains(".\(id)") } ?? false
        }
    }

    private func refusals(of worker: TortureWorker, after offset: Int) -> Int {
        lines(of: worker, after: offset).count { $0.contains("this worker no longer holds the operation") }
    }

    private func lines(of worker: TortureWorker, after offset: Int) -> [Substring] {
        String(decoding: worker.logged.utf8.dropFirst(offset), as: UTF8.self).split(separator: "\n")
    }

    private func wait(
        _ worker: TortureWorker, _ awaited: String, for timeout: Duration, until condition: () throws -> Bool
    ) throws {
        let deadline = ContinuousClock.now + timeout
        while try !condition() {
            guard ContinuousClock.now < deadline else {
                throw TortureFailure(
                    "the resumed worker had \(timeout) \(awaited): \(worker.logged.suffix(3000))")
            }
            // Polls, since changes of files and logs are not signalled.
            usleep(5000)
        }
    }
}
