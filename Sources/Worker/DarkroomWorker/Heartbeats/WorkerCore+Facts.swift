import DarkroomConcurrency
import DarkroomModel
import DarkroomStore
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

extension WorkerCore {
    /// The fields of `{namespace}:worker:<id>`. Heartbeats send the fields that have changed.
    var facts: [(field: String, value: String)] {
        let (operations, limits, activity, batches) = read {
            ($0.held, $0.limits, $0.activity, $0.batchActivities)
        }
        let hosts = hosts
        let waited = waitSamples.waits {
            var loads = read { $0.batchLoads }
            // The photos of deferred operations also wait, although this worker may hold no operation of their batch.
            for batch in hosts.hosts.flatMap(\.batches) where batch.value.waiting > 0 {
                loads[batch.key] = loads[batch.key] ?? BatchLoad()
            }
            return loads.reduce(into: [:]) { samples, load in
                samples[load.key] = WaitSamples.resource(
                    of: load.key, load.value, hosts.hosts, filtrations: limits.filtrations)
            }
        }
        return [
            ("host", ProcessInfo.processInfo.hostName), ("pid", String(getpid())), ("version", darkroomVersion),
            ("started", String(started)), ("downloads", String(limits.downloads)),
            ("filtrations", String(limits.filtrations)), ("downloading", String(activity.downloading)),
            ("filtering", String(activity.filtering)), ("bytes.held", String(activity.bytesHeld)),
            ("photos", String(activity.photosDone)),
            ("rate", String(rate.photosPerSecond(done: activity.photosDone))),
            ("operations", operations.prefix(16).map { "\($0.batch)/\($0.number)" }.joined(separator: " ")),
            ("refused", WorkerFacts.text(of: refused)),
            ("running", WorkerFacts.text(ofRunning: batches.map { ($0.batch, $0.running) })),
            ("waiting", WorkerFacts.text(of: Self.waits(batches))), ("hosts", WorkerFacts.text(of: hosts)),
            ("waited", WorkerFacts.text(of: waited)),
            ("outputs.under", WorkerFacts.text(ofPlaces: configuration.outputFolders)),
        ]
    }

    /// The batches of which no photo runs in this worker, with the hosts for which their downloads wait.
    private static func waits(_ batches: [BatchActivity]) -> [WorkerFacts.Wait] {
        let waiting = batches.filter { $0.running.isEmpty && $0.waiting > 0 }.prefix(WorkerFacts.mostWaits)
        guard !waiting.isEmpty else { return [] }
        var holders: [String: BatchID] = [:]
        for batch in batches.filter({ !$0.downloadingURLs.isEmpty }).prefix(WorkerFacts.mostWaits) {
            for host in batch.downloadingURLs.compactMap(TransferHost.name(in:)) where holders[host] == nil {
                holders[host] = batch.batch
            }
        }
        return waiting.compactMap { batch in
            let hosts = batch.waitingURLs.compactMap(TransferHost.name(in:))
            // If there are several hosts, names the host for which most of these photos wait.
            let counts = hosts.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
            guard let host = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) })?.key else { return nil }
            return WorkerFacts.Wait(batch: batch.batch, photos: batch.waiting, host: host, holder: holders[host])
        }
    }
}

/// Measures how many photos a worker finishes per second.
final class Rate: Sendable {
    private let samples = Locked<[(time: ContinuousClock.Instant, done: Int)]>([])

    /// Adds a sample. Returns the photos per second since the oldest sample of the last 10 s.
    func photosPerSecond(done: Int) -> Int {
        samples.withLock { samples in
            let now = ContinuousClock.now
            samples.append((now, done))
            samples.removeAll { now - $0.time > .seconds(10) }
            guard let first = samples.first, now - first.time > .seconds(1) else { return 0 }
            return Int((Double(done - first.done) / ((now - first.time) / .seconds(1))).rounded())
        }
    }
}
