import Darkroom
import DarkroomRedis

/// Measures the time from the reply to `suspend` to the start of the last download or filtration, and counts the
/// operations that are claimed after the reply. Four workers are running at full load.
struct SuspendLatency {
    let cluster: ControlCluster
    let rounds: Int

    func measure(_ report: inout BenchReport) throws {
        try cluster.startWorkers(4)
        let urls = (0..<100_000).map { cluster.urls[$0 % cluster.urls.count] }
        let id = try cluster.submit(urls) { $0.operationSize = 10 }
        var latest: [Double] = []
        var claimed = 0
        for round in 0..<rounds {
            // The rounds suspend the batch and the cluster alternately.
            let target = round % 2 == 0 ? id : nil
            let before = cluster.log.of(id).count
            _ = try cluster.log.wait(for: "photos to run", of: id) { $0.count > before + 40 }
            _ = try cluster.control.suspend(target)
            let replied = ContinuousClock.now
            let fencingToken = try lastFencingToken()
            try cluster.pause(0.5)
            let starts = cluster.log.of(id).filter {
                ($0.kind == .downloadBegan || $0.kind == .filtrationBegan) && $0.instant > replied
            }
            latest.append(starts.map { ($0.instant - replied).milliseconds }.max() ?? 0)
            claimed += try claims(of: id, since: fencingToken)
            _ = try cluster.control.resume(target)
            cluster.log.clear()
        }
        report.add("suspend: reply to the last download or filter that began, p99", latest.p99, "ms")
        report.add("suspend: operations claimed after the reply", Double(claimed), "operations")
        _ = try cluster.control.cancel(id)
        _ = try cluster.bench.wait(for: id)
        try cluster.remove(id)
    }

    private func lastFencingToken() throws -> Int {
        try cluster.store.connection.call(RedisCommand("HGET", cluster.store.keys.control, "claims")).string
            .flatMap { Int($0) } ?? 0
    }

    /// The number of executing operations with a fencing token greater than `fencingToken`.
    private func claims(of id: BatchID, since fencingToken: Int) throws -> Int {
        let holders = try cluster.store.connection.call(RedisCommand("HVALS", cluster.store.keys.executing(id)))
        return (holders.array ?? []).compactMap(\.string).count { holder in
            holder.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0 > fencingToken
        }
    }
}
