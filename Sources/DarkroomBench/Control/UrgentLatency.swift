import Darkroom
import DarkroomWorker
import DarkroomWorkerState

/// A batch of the highest priority submitted behind 100,000 queued photos of low priority while the workers are full: from
/// its submission to its first photo that begins, beside how long a photo takes.
struct UrgentLatency {
    let cluster: ControlCluster
    let rounds: Int

    func measure(_ report: inout BenchReport) throws {
        try cluster.startWorkers(2)
        let urls = (0..<100_000).map { cluster.urls[$0 % cluster.urls.count] }
        let low = try cluster.submit(urls) { $0.priority = .low }
        _ = try cluster.log.wait(for: "workers to be full", of: low) { moments in
            moments.count { $0.kind == .filtrationEnded } > 200
        }
        var latencies: [Double] = []
        var photos: [Double] = []
        for _ in 1...rounds {
            cluster.log.clear()
            _ = try cluster.log.wait(for: "photos of low priority", of: low) { moments in
                moments.count { $0.kind == .filtrationEnded } > 100
            }
            photos += Self.durations(cluster.log.of(low))
            let submitted = ContinuousClock.now
            let id = try cluster.submit(Array(cluster.urls.prefix(10))) { $0.priority = .veryHigh }
            let moments = try cluster.log.wait(for: "the first urgent photo", of: id) { !$0.isEmpty }
            latencies.append((moments[0].instant - submitted).milliseconds)
            _ = try cluster.bench.wait(for: id)
        }
        report.add(
            "urgent batch behind full workers: submission to its first photo begun, median", median(latencies), "ms")
        report.add(
            "urgent batch behind full workers: submission to its first photo begun, p99", latencies.p99, "ms",
            floor: median(photos))
        _ = try cluster.control.cancel(low)
        _ = try cluster.bench.wait(for: low)
        try cluster.remove(low)
    }

    /// How long photos took from the begin of their download to the end of their filter.
    private static func durations(_ moments: [TraceEvent]) -> [Double] {
        var began: [Int: ContinuousClock.Instant] = [:]
        var durations: [Double] = []
        for moment in moments {
            if moment.kind == .downloadBegan { began[moment.index] = moment.instant }
            if moment.kind == .filtrationEnded, let start = began[moment.index] {
                durations.append((moment.instant - start).milliseconds)
            }
        }
        return durations
    }
}
