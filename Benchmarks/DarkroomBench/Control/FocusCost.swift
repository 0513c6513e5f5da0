import Darkroom
import DarkroomConcurrency
import DarkroomStore

/// Measures how much 100 changes of focus per second slow down a running batch. Each run is paired with a run without
/// changes. Two workers are running.
struct FocusCost {
    private static let rounds = 7
    private static let photos = 2000
    let cluster: ControlCluster

    func measure(_ report: inout BenchReport) throws {
        try cluster.startWorkers(2)
        let ratios = try (0..<Self.rounds).map { round in
            // The order alternates, so that both runs are affected equally if the machine becomes faster or slower.
            let first = try rate(changing: round % 2 == 0)
            let second = try rate(changing: round % 2 == 1)
            return round % 2 == 0 ? first / second : second / first
        }
        report.add("photos/s with 100 changes of focus per second, relative to without", median(ratios), "times")
    }

    private func rate(changing: Bool) throws -> Double {
        let id = try cluster.submit((0..<Self.photos).map { cluster.urls[$0 % cluster.urls.count] })
        let stopped = Latch()
        let stopSignal = Signal()
        // A second connection, because `wait` uses the first connection for blocking reads until the batch finishes.
        let store = BatchStore(cluster.bench.redis.configuration, keys: cluster.bench.keys)
        defer { store.connection.close() }
        let changes = Locked(0)
        let thread = OwnedThread("bench-focus") {
            while changing, !stopped.isSet {
                let first = Int.random(in: 0..<Self.photos - 20)
                // A failed change is not counted. If too few changes succeed, the code below throws an error.
                if case .done(isNew: true, _) = try? store.perform(store.focus(id, .init(first...first + 19))) {
                    changes.withLock { $0 += 1 }
                }
                stopSignal.wait(timeout: .milliseconds(9))
            }
        }
        let facts = try cluster.bench.wait(for: id)
        stopped.set()
        stopSignal.raise()
        thread.join()
        try cluster.remove(id)
        let seconds = Double(max(1, (facts.finished ?? 0) - facts.submitted)) / 1000
        let changesPerSecond = Double(changes.withLock { $0 }) / seconds
        guard !changing || changesPerSecond >= 70 else {
            throw BenchError("the focus must change 100 times per second, it changed \(Int(changesPerSecond)) times")
        }
        return Double(Self.photos) / seconds
    }
}
