import Darkroom

/// Measures the Redis time of cancel, suspend and prioritize, for batches with 1,000,000 and with 100 queued photos.
struct ControlCost {
    let cluster: ControlCluster

    func measure(_ report: inout BenchReport) throws {
        let sizes = [100, 1_000_000]
        let figures = try sizes.map { size in try (1...5).map { _ in try costs(of: size) } }
        for (position, name) in ["suspend", "prioritize", "cancel"].enumerated() {
            let medians = figures.map { median($0.map { $0[position] }) }
            report.add("\(name): Redis time, 1,000,000 queued photos", medians[1], "ms", floor: medians[0])
        }
    }

    private func costs(of photos: Int) throws -> [Double] {
        let urls = repeatElement("http://photos.example.com/albums/2026/1234567890.jpg", count: photos)
        let id = try cluster.submit(Array(urls)) {
            $0.output = ""
            $0.window = 20_000
        }
        let costs = [
            try cluster.redisMilliseconds { _ = try cluster.control.suspend(id) },
            try cluster.redisMilliseconds { _ = try cluster.control.prioritize(id, .high) },
            try cluster.redisMilliseconds { _ = try cluster.control.cancel(id) },
        ]
        try cluster.remove(id)
        return costs
    }
}
