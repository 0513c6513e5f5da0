import DarkroomModel
import Testing

@testable import DarkroomStore
@testable import DarkroomWorker

/// Random steps of users, queues and Redis: what the ledger counts stays what its books say, and everything comes to an end.
@Suite struct LedgerModelTests {
    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {  // splitmix64
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return mixed ^ (mixed >> 31)
        }
    }

    private struct Run {
        var bench: LedgerBench
        var random: Generator
        var transfers: [PhotoInProgress] = []
        var queued: [WorkerLedger.QueuedFiltration] = []
        var filtering: [WorkerLedger.QueuedFiltration] = []
        var placing: [WorkerLedger.QueuedFiltration] = []
        var numbers: [BatchID: Int] = [:]
        let batches = (0..<4).map { BatchID("batch\($0)")! }

        init(seed: UInt64) {
            random = Generator(state: seed)
            bench = LedgerBench(
                downloads: .random(in: 1...6, using: &random), filtrations: .random(in: 1...3, using: &random),
                maxBytesHeld: .random(in: 5000...60_000, using: &random))
            bench.ledger.typicalBytes = 1000
        }

        private mutating func take<Element>(_ list: WritableKeyPath<Run, [Element]>) -> Element? {
            guard let place = self[keyPath: list].indices.randomElement(using: &random) else { return nil }
            return self[keyPath: list].remove(at: place)
        }

        private mutating func chance(_ percent: Int) -> Bool { .random(in: 0..<100, using: &random) < percent }

        mutating func step() throws {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<12: try claim()
            case 12..<30: transfers += bench.ledger.begin(urgently: chance(50))
            case 30..<55: endDownload()
            case 55..<60: queued += bench.ledger.filtrationsToQueue()
            case 60..<80: filter()
            case 80..<90: steer()
            case 90..<92: adopt()
            case 92..<97: handBack()
            case 97..<98:
                guard let held = bench.ledger.held.randomElement(using: &random) else { return }
                _ = bench.ledger.drop(held)
            default: report()
            }
            queued += chance(50) ? bench.ledger.filtrationsToQueue() : []
        }

        private mutating func claim() throws {
            guard bench.ledger.order.count < 12 else { return }
            let batch = batches.randomElement(using: &random)!  // there are four
            guard !bench.ledger.controls.batch(batch).isCancelled else { return }
            numbers[batch, default: 0] += 1
            let stateCodes = String((0..<10).map { _ in "NNNNNDF".randomElement(using: &random)! })  // not empty
            let deaths = chance(20) ? 2 : 0
            try bench.claim(batch, numbers[batch]!, stateCodes: stateCodes + "N", leaseExpiries: deaths)
        }

        mutating func endDownload() {
            guard let photo = take(\.transfers) else { return }
            // Its host is busy, or it is to be tried again; it comes to its end at another step.
            if chance(30) {
                _ = bench.ledger.waits(photo)
                transfers.append(photo)
                return
            }
            let permission = bench.ledger.mayDownload(photo)
            guard permission != .no, chance(90) else {
                _ = bench.ledger.downloadEnded(photo, nil)
                return
            }
            if !bench.ledger.downloaded(photo, bytes: .random(in: 0...3000, using: &random)) {
                _ = bench.ledger.downloadEnded(photo, nil)
            }
        }

        mutating func filter() {
            if chance(40), let filtration = take(\.queued) {
                if bench.ledger.mayFilter(filtration.photo, filtration.ticket) { filtering.append(filtration) }
            } else if chance(50), let filtration = take(\.filtering) {
                if bench.ledger.mayPlace(filtration.photo, filtration.ticket) {
                    placing.append(filtration)
                } else {
                    _ = bench.ledger.filtrationEnded(filtration.photo, filtration.ticket, nil)
                }
            } else if let filtration = take(\.placing) {
                let outcome = LedgerBench.outcome(filtration.photo)
                _ = bench.ledger.filtrationEnded(filtration.photo, filtration.ticket, outcome)
            }
        }

        private mutating func steer() {
            let batch = batches.randomElement(using: &random)!  // there are four
            let first = Int.random(in: 0..<60, using: &random)
            let (kind, only) = (Int.random(in: 0..<18, using: &random), chance(50))
            let priority = Priority.allCases.randomElement(using: &random)!  // there are five
            switch kind {
            case 0: bench.steerCluster { $0.isSuspended.toggle() }
            case 1: bench.steerCluster { $0.areDownloadsSuspended.toggle() }
            case 2: bench.steerCluster { $0.areFiltrationsSuspended.toggle() }
            case 3: bench.steerCluster { $0.downloads = $0.downloads == nil ? 2 : nil }
            case 4: bench.steerCluster { $0.filtrations = $0.filtrations == nil ? 1 : nil }
            case 5...6: bench.steer(batch) { $0.isSuspended.toggle() }
            case 7: bench.steer(batch) { $0.areDownloadsSuspended.toggle() }
            case 8: bench.steer(batch) { $0.areFiltrationsSuspended.toggle() }
            case 9...10: bench.steer(batch) { $0.priority = priority }
            case 11...13: bench.steer(batch) { $0.focus = .init(first...(first + 15), only: only) }
            case 14: bench.steer(batch) { $0.focus = nil }
            case 15: if chance(30) { bench.steer(batch) { $0.isCancelled = true } }
            case 16: bench.bar(batch, device: chance(50) ? 1 : nil, and: batches.filter { _ in chance(30) })
            default: bench.free()
            }
        }

        private mutating func adopt() {
            guard let held = bench.ledger.order.randomElement(using: &random) else { return }
            let stateCodes = (0..<11).map { _ in UInt8(ascii: chance(20) ? "C" : "N") }
            _ = bench.ledger.adopt(stateCodes, of: held)
        }

        mutating func handBack() {
            for held in bench.ledger.toHandBack(now: .now + .seconds(chance(10) ? 1000 : 0)) where chance(80) {
                _ = bench.ledger.drop(held)
            }
        }

        mutating func report() {
            for report in bench.ledger.reports(now: .now, olderThan: .zero) {
                bench.ledger.reported(report, now: .now)
                if bench.ledger.operations[report.held]?.isDone == true { _ = bench.ledger.drop(report.held) }
            }
        }

        /// Everything goes on until nothing is left.
        mutating func finish() {
            bench.steerCluster { $0 = ClusterControls() }
            bench.free()
            for batch in batches {
                bench.steer(batch) { controls in
                    let isCancelled = controls.isCancelled
                    controls = BatchControls()
                    controls.isCancelled = isCancelled
                }
            }
            for _ in 0..<2000 where !bench.ledger.held.isEmpty || !transfers.isEmpty || !bench.ledger.ghosts.isEmpty {
                transfers += bench.ledger.begin()
                for _ in 0..<2 * transfers.count { endDownload() }
                queued += bench.ledger.filtrationsToQueue()
                filter()
                report()
                for held in bench.ledger.toHandBack(now: .now) { _ = bench.ledger.drop(held) }
            }
        }
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>) func keepsItsBooks(seed: UInt64) throws {
        var run = Run(seed: seed)
        for _ in 0..<500 {
            try run.step()
            run.bench.check()
        }
        run.finish()
        run.bench.check()
        #expect(run.bench.ledger.held.isEmpty, "operations are left: \(run.bench.ledger.held)")
        #expect(
            run.bench.ledger.inProgress.isEmpty && run.bench.ledger.bytesHeld == 0 && run.bench.ledger.photosHeld == 0)
        #expect(run.bench.ledger.batches.isEmpty && run.bench.ledger.ghosts.isEmpty)
    }
}
