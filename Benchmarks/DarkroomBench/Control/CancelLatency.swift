import Darkroom
import DarkroomImaging
import DarkroomRecipes
import DarkroomWorker
import Foundation

/// Measures the time from the reply to `cancel` until the last of 64 running photos has stopped. Half of these photos
/// are being downloaded slowly; the other half have 12 megapixels and are being filtered. Four workers are running.
struct CancelLatency {
    let cluster: ControlCluster
    let rounds: Int

    func measure(_ report: inout BenchReport) throws {
        let files = try [ImageFormat.jpeg, .png].map { format in
            let path = cluster.bench.folder + "/large.\(format.fileExtension)"
            try Data(LargePhoto.file(format)).write(to: URL(fileURLWithPath: path))
            return "file://" + path
        }
        let withNotices = try latencies(files, rounds: rounds, receivesNotices: true)
        report.add("cancel: reply to the last of 64 running photos stopped, median", median(withNotices), "ms")
        report.add("cancel: reply to the last of 64 running photos stopped, p99", withNotices.p99, "ms")
        let withoutNotices = try latencies(files, rounds: max(1, rounds / 5), receivesNotices: false)
        report.add("cancel without pub/sub messages, median", median(withoutNotices), "ms")
        report.add("cancel without pub/sub messages, p99", withoutNotices.p99, "ms")
    }

    private func latencies(_ files: [String], rounds: Int, receivesNotices: Bool) throws -> [Double] {
        var hooks = WorkerHooks()
        hooks.receivesNotices = receivesNotices
        try cluster.startWorkers(4, hooks: hooks) {
            $0.downloads = 16
            $0.filtrations = 2
            $0.maxWaitingBytes = 1 << 30
        }
        defer { cluster.stopWorkers() }
        let filters: [[PhotoFilter]] = [[.sepia()], [.tiltShift()]]
        return try (0..<rounds).map { round in
            let urls = (0..<160).map { $0 % 2 == 0 ? cluster.trickle.url(round * 160 + $0) : files[round % 2] }
            let id = try cluster.submit(urls) {
                $0.operationSize = 4
                $0.filters = filters[round / 2 % 2]
            }
            _ = try cluster.log.wait(for: "64 running photos", of: id) { events in
                events.running(.downloadBegan, .downloadEnded) >= 32
                    && events.running(.downloadBegan, .filtrationEnded) >= 64
                    && events.running(.filtrationBegan, .filtrationEnded) > 0
            }
            _ = try cluster.control.cancel(id)
            let replied = ContinuousClock.now
            let events = try cluster.log.wait(for: "everything to stop", of: id) { events in
                events.running(.downloadBegan, .downloadEnded) == 0
                    && events.running(.filtrationBegan, .filtrationEnded) == 0
            }
            _ = try cluster.bench.wait(for: id)
            let last = (events + cluster.log.of(id)).map(\.instant).max() ?? replied
            try cluster.remove(id)
            return max(0, (last - replied).milliseconds)
        }
    }
}
