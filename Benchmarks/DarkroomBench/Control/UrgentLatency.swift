import Darkroom
import DarkroomWorker
import DarkroomWorkerState

/// Measures the time from the submission of a batch of the highest priority to the start of its first photo, while the
/// workers are busy with 100,000 photos of low priority. The floor is the time that a worker needs for one photo.
struct UrgentLatency {
    let cluster: ControlCluster
    let rounds: Int

    func measure(_ report: inout BenchReport) throws {
        try cluster.startWorkers(2)
        let urls = (0..<100_000).map { cluster.urls[$0 % cluster.urls.count] }
        let low = try cluster.submit(urls) { $0.priority = .low }
        _ = try cluster.log.wait(for: "workers to run at full load", of: low) { events in
            events.count { $0.kind == .filtrationEnded } > 200
        }
        var latencies: [Double] = []
        var photos: [Double] = []
        for _ in 1...rounds {
            cluster.log.clear()
            _ = try cluster.log.wait(for: "photos of low priority", of: low) { events in
                events.count { $0.kind == .filtrationEnded } > 100
            }
            photos += Self.durations(cluster.log.of(low))
            let submitted = ContinuousClock.now
            let id = try cluster.submit(Array(cluster.urls.prefix(10))) { $0.priority = .veryHigh }
            let events = try cluster.log.wait(for: "the first urgent photo", of: id) { !$0.isEmpty }
            latencies.append((events[0].instant - submitted).milliseconds)
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

    /// The times from the start of a photo's download to the end of its filtration, in ms.
    private static func durations(_ events: [TraceEvent]) -> [Double] {
        var began: [Int: ContinuousClock.Instant] = [:]
        var durations: [Double] = []
        for event in events {
            if event.kind == .downloadBegan { began[event.index] = event.instant }
            if event.kind == .filtrationEnded, let start = began[event.index] {
                durations.append((event.instant - start).milliseconds)
            }
        }
        return durations
    }
}
