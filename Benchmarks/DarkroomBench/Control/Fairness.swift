import Darkroom

/// Measures how long a batch of 100 photos takes alone, and while a batch of 10,000 photos of the same priority is
/// running. Both batches have operations of 10 photos. Two workers are running.
struct Fairness {
    private static let rounds = 5
    let cluster: ControlCluster

    func measure(_ report: inout BenchReport) throws {
        try cluster.startWorkers(2)
        var alone: [Double] = []
        var beside: [Double] = []
        for _ in 1...Self.rounds {
            alone.append(try time())
            let large = try cluster.submit((0..<10_000).map { cluster.urls[$0 % cluster.urls.count] }) {
                $0.operationSize = 10
            }
            _ = try cluster.log.wait(for: "the large batch to run", of: large) { events in
                events.count { $0.kind == .filtrationEnded } > 300
            }
            beside.append(try time())
            _ = try cluster.control.cancel(large)
            _ = try cluster.bench.wait(for: large)
            try cluster.remove(large)
        }
        report.add("100 photos beside 10,000 of the same priority", median(beside), "ms", floor: median(alone))
    }

    /// The time from the submission of 100 photos until all are done, in ms.
    private func time() throws -> Double {
        let id = try cluster.submit((0..<100).map { cluster.urls[$0 % cluster.urls.count] }) { $0.operationSize = 10 }
        let facts = try cluster.bench.wait(for: id)
        try cluster.remove(id)
        return Double((facts.finished ?? 0) - facts.submitted)
    }
}
