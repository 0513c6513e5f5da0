import Darkroom
import DarkroomModel
import DarkroomStore

/// Measures the time from the reply of Redis to a call that makes photos available (resume, or the first feed of a
/// batch) until an idle worker starts the first photo.
struct StartLatency {
    let cluster: ControlCluster
    let rounds: Int

    func measure(_ report: inout BenchReport) throws {
        try cluster.startWorkers(4)
        var submitted: [Double] = []
        var resumed: [Double] = []
        for _ in 1...rounds {
            submitted.append(try latency { id in try feed(id) })
            try cluster.pause(0.15)
            resumed.append(
                try latency { id in
                    _ = try cluster.control.suspend(id)
                    try feed(id)
                    try cluster.pause(0.15)
                    _ = try cluster.control.resume(id)
                })
            try cluster.pause(0.15)
        }
        report.add("submit: reply to the first photo begun, p99", submitted.p99, "ms")
        report.add("resume: reply to the first photo begun, p99", resumed.p99, "ms")
    }

    /// Calls `begin`, which makes photos available. Returns the time from the return of `begin` to the start of the
    /// first photo, in ms.
    private func latency(_ begin: (BatchID) throws -> Void) throws -> Double {
        let id = BatchID(submittedAt: try cluster.store.time())
        var options = BatchOptions()
        options.output = ""
        options.filters = [.sepia()]
        _ = try cluster.store.perform(cluster.store.submit(id, options))
        try begin(id)
        let replied = ContinuousClock.now
        let events = try cluster.log.wait(for: "the first photo", of: id) { !$0.isEmpty }
        _ = try cluster.bench.wait(for: id)
        try cluster.remove(id)
        return max(0, (events[0].instant - replied).milliseconds)
    }

    /// Feeds one operation of at most 8 photos and seals the batch.
    private func feed(_ id: BatchID) throws {
        var entry = OperationEntry(operationSize: 8)
        let urls = cluster.urls.prefix(8)
        for url in urls { ListEntry.with(name: "photo", url: url) { entry.append($0) } }
        _ = try cluster.store.perform(
            cluster.store.feed(id, operation: 1, photos: urls.count, entry: entry.packed(), digest: "bench"))
        _ = try cluster.store.perform(cluster.store.seal(id, operations: 1, photos: urls.count))
    }
}
