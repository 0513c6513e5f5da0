import DarkroomModel
import Foundation
import FuzzSupport
import Testing

@testable import DarkroomWorkerState

/// Random events from users, local queues, disks and Redis. After each event the state must be consistent, and at the
/// end every operation must finish.
@Suite struct StateModelTests {
    private struct Run {
        var bench: StateBench
        var random: SeededGenerator
        var transfers: [StateBench.Photo] = []
        /// The photos whose bodies have to wait.
        var held: [StateBench.Photo] = []
        var carrying: [StateBench.Photo] = []
        private let maxBytes: Int
        var queued: [FilterJob] = []
        var filtering: [FilterJob] = []
        var placing: [FilterJob] = []
        var numbers: [BatchID: Int] = [:]
        let batches = (0..<4).map { BatchID("batch\($0)")! }

        /// - Parameter schedules: whether only effects begin downloads and queue filters. Otherwise random steps do.
        init(seed: UInt64, schedules: Bool = false) {
            random = SeededGenerator(seed: seed)
            maxBytes = .random(in: 5000...60_000, using: &random)
            bench = StateBench(
                downloads: .random(in: 1...6, using: &random), filtrations: .random(in: 1...3, using: &random),
                maxBytesHeld: maxBytes)
            bench.expectDownloads(of: 1000)
            bench.schedules = schedules
        }

        private mutating func take<Element>(_ list: WritableKeyPath<Run, [Element]>) -> Element? {
            guard let place = self[keyPath: list].indices.randomElement(using: &random) else { return nil }
            return self[keyPath: list].remove(at: place)
        }

        private mutating func chance(_ percent: Int) -> Bool { .random(in: 0..<100, using: &random) < percent }

        private static let disk = StorageDomain("disk")

        mutating func step() throws {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<12: try claim()
            case 12..<30 where !bench.schedules: transfers += bench.beginDownloads(urgently: chance(50))
            case 12..<55: endDownload()
            case 55..<60 where !bench.schedules: queued += bench.queueFilters()
            case 55..<80: filter()
            case 80..<89: control()
            case 89..<90: bench.idleWorker()
            case 90..<92: mergeStateCodes()
            case 92..<97:
                // The thread that an effect wakes first reports, and then releases.
                if bench.schedules { report() }
                release()
            case 97..<98: remove()
            default: if !bench.schedules { report() }
            }
            if !bench.schedules, chance(50) { queued += bench.queueFilters() }
            if bench.mayResume || !bench.schedules { resume() }
            transfers += bench.begun
            queued += bench.queued
            (bench.begun, bench.queued) = ([], [])
        }

        private mutating func claim() throws {
            guard bench.localOperations.count < 12 else { return }
            let batch = batches.randomElement(using: &random)!  // the list is not empty
            guard !bench.controls(of: batch).isCancelled else { return }
            numbers[batch, default: 0] += 1
            if chance(10) {
                let held = HeldOperation(batch: batch, number: numbers[batch]!, fencingToken: 0)  // set above
                bench.claimed(held)
                return bench.declined(held)
            }
            let stateCodes = String((0..<9).map { _ in "NNNNNDF".randomElement(using: &random)! })  // not empty
            let leaseExpiries = chance(20) ? 2 : 0
            bench.claim(
                batch, numbers[batch]!, stateCodes: stateCodes + "N", leaseExpiries: leaseExpiries,
                domains: chance(30) ? [Self.disk] : [])
        }

        /// Asks again for the bodies that wait.
        private mutating func resume() {
            bench.mayResume = false
            for photo in bench.inOrder(held) {
                let hasBody = bench.hasBody(photo)
                guard bench.downloadCarries(photo, bytes: bench.wantedBytes(of: photo)) else {
                    if hasBody { continue } else { break }
                }
                held.removeAll { $0 === photo }
                carrying.append(photo)
            }
            expectBoundedBytes()
        }

        private mutating func carry(_ photo: StateBench.Photo) {
            if bench.downloadCarries(photo, bytes: .random(in: 1...3000, using: &random)) {
                carrying.append(photo)
            } else {
                held.append(photo)
            }
            expectBoundedBytes()
        }

        private func expectBoundedBytes() {
            // The oldest download may always keep its body.
            #expect(bench.bytesReserved <= maxBytes / 2 * 3 + 3000)
        }

        mutating func endDownload() {
            if let photo = held.first(where: { $0.cancellation.isCancelled }) {
                held.removeAll { $0 === photo }
                return bench.downloadEnded(photo, nil)
            }
            if chance(50), let photo = take(\.carrying) {
                if chance(30) { return carry(photo) }
                if chance(10) { return bench.downloadEnded(photo, StateBench.failure(photo)) }
                if chance(10) {
                    bench.downloadWaits(photo)  // cut off, to be tried again
                    return transfers.append(photo)
                }
                _ = bench.downloaded(photo, bytes: .random(in: 0...bench.wantedBytes(of: photo), using: &random))
                return
            }
            guard let photo = take(\.transfers) else { return }
            // The host is busy, or the download needs a retry. A later step ends the download.
            if chance(30) {
                let wait = chance(50) ? Duration.seconds(Int.random(in: 1...40, using: &random)) : nil
                bench.downloadWaits(photo, isIdle: wait != nil || chance(50), for: wait)
                transfers.append(photo)
                return
            }
            let permission = bench.downloadBegins(photo)
            guard permission != .no, chance(90) else {
                bench.downloadEnded(photo, nil)
                return
            }
            if chance(10) {
                bench.downloadEnded(photo, StateBench.failure(photo))
            } else if chance(90) {
                carry(photo)
            } else {
                _ = bench.downloaded(photo, bytes: .random(in: 0...3000, using: &random))
            }
        }

        mutating func filter() {
            if chance(40), let filtration = take(\.queued) {
                if bench.filterBegins(filtration) { filtering.append(filtration) }
            } else if chance(50), let filtration = take(\.filtering) {
                if bench.placing(filtration) {
                    placing.append(filtration)
                } else {
                    bench.filterEnded(filtration, nil)
                }
            } else if let filtration = take(\.placing) {
                let outcome = StateBench.outcome(filtration.task)
                bench.filterEnded(filtration, outcome)
            }
        }

        private mutating func control() {
            let batch = batches.randomElement(using: &random)!  // the list is not empty
            let first = Int.random(in: 0..<60, using: &random)
            let (kind, only) = (Int.random(in: 0..<18, using: &random), chance(50))
            let priority = BatchPriority.allCases.randomElement(using: &random)!  // the list is not empty
            switch kind {
            case 0: bench.controlCluster { $0.isSuspended.toggle() }
            case 1: bench.controlCluster { $0.areDownloadsSuspended.toggle() }
            case 2: bench.controlCluster { $0.areFiltrationsSuspended.toggle() }
            case 3: bench.controlCluster { $0.downloads = $0.downloads == nil ? 2 : nil }
            case 4: bench.controlCluster { $0.filtrations = $0.filtrations == nil ? 1 : nil }
            case 5...6: bench.control(batch) { $0.isSuspended.toggle() }
            case 7: bench.control(batch) { $0.areDownloadsSuspended.toggle() }
            case 8: bench.control(batch) { $0.areFiltrationsSuspended.toggle() }
            case 9...10: bench.control(batch) { $0.priority = priority }
            case 11...13: bench.control(batch) { $0.focus = .init(first...(first + 15), only: only) }
            case 14: bench.control(batch) { $0.focus = nil }
            case 15: if chance(30) { bench.control(batch) { $0.isCancelled = true } }
            case 16: bench.block(batch, domain: chance(50) ? Self.disk : nil)
            default: bench.unblock()
            }
        }

        private mutating func mergeStateCodes() {
            guard let held = bench.localOperations.randomElement(using: &random) else { return }
            let stateCodes = (0..<10).map { _ in UInt8(ascii: chance(20) ? "C" : "N") }
            _ = bench.merge(stateCodes, of: held)
        }

        /// Removes an operation, or cancels its batch.
        private mutating func remove() {
            guard let held = bench.held.randomElement(using: &random) else { return }
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bench.lost(held)
            case 1: bench.ended(held)
            case 2: _ = bench.filesLost(held)
            default: bench.batchCancelled(held.batch)
            }
        }

        mutating func release() {
            let releases = bench.releases(now: .now + .seconds(chance(10) ? 1000 : 0))
            for release in releases where release.shared != nil {
                #expect(!bench.isBusy(release.held), "a photo of \(release.held) is under way")
            }
            for held in releases.map(\.held) {
                if chance(80) {
                    bench.lost(held)
                } else {
                    bench.areReportsWoken = true  // a release without a reply is tried again
                }
            }
        }

        mutating func report() {
            bench.areReportsWoken = false
            for report in bench.reportsDue(now: .now, olderThan: bench.schedules ? .seconds(1000) : .zero) {
                bench.reported(report, now: .now)
                if bench.unfinished(report.held) == 0 { bench.ended(report.held) }
            }
        }

        /// Resumes all batches, and runs until the worker has reported or released all its operations.
        mutating func finish() {
            bench.controlCluster { $0 = ClusterControls() }
            bench.unblock()
            for batch in batches {
                bench.control(batch) { controls in
                    let isCancelled = controls.isCancelled
                    controls = BatchControls()
                    controls.isCancelled = isCancelled
                }
            }
            for _ in 0..<2000
            where !bench.held.isEmpty || !transfers.isEmpty || !carrying.isEmpty || bench.abandonedFilters > 0 {
                transfers += bench.beginDownloads()
                for _ in 0..<2 * (transfers.count + carrying.count) { endDownload() }
                resume()
                queued += bench.queueFilters()
                filter()
                report()
                for held in bench.releasesDue(now: .now) { _ = bench.lost(held) }
            }
        }
    }

    /// A worker begins downloads, filters, reports and releases only when an effect tells it to. The seeds 3363 and
    /// 5025 once found reports that were due without an effect.
    @Test(arguments: Array(1...seeds) + [3363, 5025]) func announcesAllWorkThatIsDue(seed: UInt64) throws {
        var run = Run(seed: seed, schedules: true)
        for number in 0..<500 {
            try run.step()
            let unannounced = run.bench.unannounced
            #expect(unannounced.isEmpty, "after event \(number): \(unannounced)")
            guard unannounced.isEmpty else { return }
            run.bench.check()
        }
    }

    /// Each seed produces a run of 500 events. `DARKROOM_STATE_SEEDS` sets the number of seeds.
    private static let seeds = ProcessInfo.processInfo.environment["DARKROOM_STATE_SEEDS"].flatMap(UInt64.init) ?? 60

    @Test(arguments: 1...seeds) func staysConsistentAndFinishes(seed: UInt64) throws {
        var run = Run(seed: seed)
        for _ in 0..<500 {
            try run.step()
            run.bench.check()
        }
        run.finish()
        run.bench.check()
        #expect(run.bench.held.isEmpty, "operations remain: \(run.bench.held)")
        #expect(
            run.bench.taskCount == 0 && run.bench.bytesHeld == 0 && run.bench.photosHeld == 0)
        #expect(run.bench.batchCount == 0 && run.bench.abandonedFilters == 0)
    }
}
