import Darkroom
import DarkroomImaging
import Foundation

/// From the cancel command's reply to the last of 64 running photos stopped: half of them downloads that trickle, half
/// photos of 12 megapixels that are filtered; four workers.
struct CancelLatency {
    let cluster: ControlCluster
    let rounds: Int

    func measure(_ report: inout BenchReport) throws {
        let files = try [ImageFormat.jpeg, .png].map { format in
            let path = cluster.bench.folder + "/large.\(format.fileExtension)"
            try Data(LargePhoto.file(format)).write(to: URL(fileURLWithPath: path))
            return "file://" + path
        }
        let heard = try latencies(files, rounds: rounds, receivesNotices: true)
        report.add("cancel: reply to the last of 64 running photos stopped, median", median(heard), "ms")
        report.add("cancel: reply to the last of 64 running photos stopped, p99", heard.p99, "ms")
        let deaf = try latencies(files, rounds: max(1, rounds / 5), receivesNotices: false)
        report.add("the same, every pub/sub message lost, median", median(deaf), "ms")
        report.add("the same, every pub/sub message lost, p99", deaf.p99, "ms")
    }

    private func latencies(_ files: [String], rounds: Int, receivesNotices: Bool) throws -> [Double] {
        try cluster.startWorkers(4) {
            $0.downloads = 16
            $0.filtrations = 2
            $0.maxBytesHeld = 1 << 30
            $0.receivesNotices = receivesNotices
        }
        defer { cluster.stopWorkers() }
        let filters: [[PhotoFilter]] = [[.sepia()], [.tiltShift()]]
        return try (0..<rounds).map { round in
            let urls = (0..<160).map { $0 % 2 == 0 ? cluster.trickle.url(round * 160 + $0) : files[round % 2] }
            let id = try cluster.submit(urls) {
                $0.operationSize = 4
                $0.filters = filters[round / 2 % 2]
            }
            _ = try cluster.log.wait(for: "64 running photos", of: id) { moments in
                moments.running(.downloadBegan, .downloadEnded) >= 32
                    && moments.running(.downloadBegan, .filtrationEnded) >= 64
                    && moments.running(.filtrationBegan, .filtrationEnded) > 0
            }
            _ = try cluster.control.cancel(id)
            let replied = ContinuousClock.now
            let moments = try cluster.log.wait(for: "everything to stop", of: id) { moments in
                moments.running(.downloadBegan, .downloadEnded) == 0
                    && moments.running(.filtrationBegan, .filtrationEnded) == 0
            }
            _ = try cluster.bench.wait(for: id)
            let last = (moments + cluster.log.of(id)).map(\.instant).max() ?? replied
            try cluster.remove(id)
            return max(0, (last - replied).milliseconds)
        }
    }
}
