import Darkroom
import DarkroomConcurrency
import Foundation
import FuzzSupport
import Testing

@testable import StoreInspection

/// A worker that stands still for longer than its lease while another lives, and goes on then.
final class StandstillCampaign {
    /// What it came to.
    struct Outcome {
        var standstills = 0
        /// Operations that were taken from who stood still.
        var taken = 0
        /// Photos of them that it had not reported.
        var unreported = 0
        /// Standstills in the middle of a file, under its temporary name.
        var inFiles = 0
        /// Lines in which it says that an operation is not its own any more.
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

    /// Makes standstills while the run goes on: in turn such that all is over when the worker comes back, and such that others are
    /// at its operations then.
    func perform(_ run: TortureRun) throws -> Outcome {
        while run.goesOn(after: outcome.standstills) {
            try standstill(isOverThen: outcome.standstills.isMultiple(of: 2))
            outcome.standstills += 1
        }
        return outcome
    }

    private func standstill(isOverThen: Bool) throws {
        while cluster.workers.count < 2 { try cluster.startWorker() }
        let victim = random.pick(cluster.workers)
        let (batch, held, stopped) = try stop(victim, photos: isOverThen ? 600 : 5000)
        outcome.taken += held.count
        outcome.unreported += held.reduce(0) { $0 + $1.unreported }
        let inFiles = try hiddenFiles(of: victim, in: batch)
        outcome.inFiles += inFiles.isEmpty ? 0 : 1

        // The fault is that long.
        Signal().wait(timeout: stopped + lease + .seconds(4) - .now)
        try wait(victim, "to lose what it held", for: .seconds(60)) {
            zip(held, try cluster.holders(of: held.map(\.held))).allSatisfy { operation, holder in
                holder != nil && holder != operation.held.fencingToken
            }
        }
        var before: Picture?
        if isOverThen {
            try cluster.waitUntilFinished(batch, within: .seconds(120))
            before = try picture(of: batch)
        }
        let said = victim.logged.utf8.count
        victim.resume()
        try wait(victim, "to say that its operations are not its own", for: .seconds(20)) {
            // Of one that it was through with and that has ended meanwhile it says that, of all others that they were taken.
            refusals(of: victim, after: said) > 0
                || lines(of: victim, after: said).contains {
                    $0.contains("operation ended") || $0.contains("operation no longer held")
                }
        }
        try wait(victim, "to remove its temporary files", for: .seconds(20)) {
            try hiddenFiles(of: victim, in: batch).isEmpty
        }
        if !isOverThen { try cluster.waitUntilFinished(batch, within: .seconds(120)) }
        try worksOn(victim)
        outcome.refusals += refusals(of: victim, after: said)
        if let before { try compare(before, picture(of: batch), inFiles: inFiles) }
        try conclude(batch)
    }

    /// Stops the worker while it holds something of a batch, the first that is not over before that is met.
    private func stop(
        _ victim: TortureWorker, photos: Int
    ) throws -> (BatchID, [HeldOperationContent], ContinuousClock.Instant) {
        _ = try victim.id  // it has started
        for _ in 0..<10 {
            let batch = try cluster.submit(photos: photos, operationSize: random.pick([10, 20, 50]))
            if let (held, stopped) = try stop(victim, in: batch) { return (batch, held, stopped) }
            try conclude(batch)
        }
        throw TortureFailure("ten batches of \(photos) photos were over before the worker was stopped in one")
    }

    /// Stops the worker while it holds something of the batch; every other time, where that is met soon, while it writes a file. Nil when the
    /// batch is over before.
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
        throw TortureFailure("the worker \(victim.processIdentifier) held nothing of \(batch) for 20 s")
    }

    /// Lets the worker do a batch alone.
    private func worksOn(_ victim: TortureWorker) throws {
        let others = cluster.workers.filter { $0 !== victim }
        for worker in others { worker.stop() }
        for worker in others where !worker.waitForEnd(within: .seconds(30)) {
            throw TortureFailure(
                "the worker \(worker.processIdentifier) has not stopped: \(worker.logged.suffix(1000))")
        }
        let batch = try cluster.submit(photos: 60, operationSize: 10)
        try cluster.waitUntilFinished(batch, within: .seconds(60))
        try conclude(batch)
    }

    private func conclude(_ batch: BatchID) throws {
        let verification = try cluster.verify(batch)
        guard verification.problems.isEmpty else { throw TortureFailure("batch \(batch) is not sound") }
        outcome.photos += verification.photos
        outcome.repeats += verification.repeats
        try cluster.forget(batch)
    }

    // MARK: What is seen

    /// Everything of a batch that nobody may touch once it is over.
    private struct Picture {
        let content: BatchContent?
        /// By path: inode, size, and the time of the last change of the file or its name.
        var files: [String: [Int]] = [:]
    }

    private func picture(of batch: BatchID) throws -> Picture {
        var picture = Picture(content: try StoreReader(cluster.store).read().batches[batch])
        let output = try cluster.submission(of: batch).output
        for name in try FileManager.default.subpathsOfDirectory(atPath: output) {
            var status = stat()
            guard lstat(output + "/" + name, &status) == 0 else { continue }
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            if isFolder || name.split(separator: "/").last?.hasPrefix(".") == true { continue }
            picture.files[name] = [
                Int(status.st_ino), Int(status.st_size), Int(status.st_ctim.tv_sec), Int(status.st_ctim.tv_nsec),
            ]
        }
        return picture
    }

    /// - Parameter inFiles: the temporary files of the worker when it was stopped: each may have been about to get its final name.
    private func compare(_ before: Picture, _ after: Picture, inFiles: [String]) {
        #expect(before.content != nil && after.content == before.content, "a report of an operation was taken")
        let begun = inFiles.compactMap { $0.split(separator: "/").last?.split(separator: ".").first.map(String.init) }
        let touched = Set(before.files.keys).union(after.files.keys).filter { name in
            let last = name.split(separator: "/").last.map(String.init) ?? name
            let number = last.prefix { $0.isNumber }.drop { $0 == "0" }
            let what = name.hasPrefix("manifest/") ? "manifest-\(number)" : number.isEmpty ? "0" : "\(number)"
            return before.files[name] != after.files[name] && !begun.contains(what)
        }
        #expect(touched.isEmpty, "it touched final names: \(touched.sorted().prefix(5)), \(touched.count) in all")
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
                    "the worker that stood still is awaited \(awaited), for \(timeout): \(worker.logged.suffix(3000))")
            }
            // Files and logs have no signal to wait for.
            usleep(5000)
        }
    }
}
