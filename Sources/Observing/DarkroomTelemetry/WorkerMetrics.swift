import DarkroomConcurrency
import DarkroomMetrics
import DarkroomModel
import DarkroomWorker
import DarkroomWorkerState

/// Counts and measures the photos of a worker.
///
/// A photo is counted when Redis has accepted its result. If the connection breaks before the worker receives the reply
/// that ends an operation, the worker does not learn that its last photos were accepted. The totals of the cluster
/// contain these photos.
package final class WorkerMetrics: Sendable {
    struct Figures {
        var filtered = 0
        var failed: [FailureReason: Int] = [:]
        /// Photos that were cancelled after they became final in this worker.
        var cancelled = 0
        var downloadBytes = 0
        var outputBytes = 0
        var leasesLost = 0
        var reconnects = 0
        var wait = Histogram(WorkerMetrics.longTimes)
        var download = Histogram(WorkerMetrics.stepTimes)
        var filter = Histogram(WorkerMetrics.stepTimes)
        var write = Histogram(WorkerMetrics.stepTimes)
        var duration = Histogram(WorkerMetrics.longTimes)
        var report = Histogram(WorkerMetrics.callTimes)
        var roundTrip = Histogram(WorkerMetrics.callTimes)
    }

    /// Bounds for a step of a photo, in seconds.
    private static let stepTimes = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
    ]
    /// Bounds for times that include a wait in a queue, in seconds.
    private static let longTimes = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200]
    /// Bounds for calls to Redis, in seconds.
    private static let callTimes = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

    private let figures = Locked(Figures())

    package init() {}

    /// Counts an observation. Thread-safe; takes about 1 µs for each photo.
    package func observe(_ observation: WorkerObservation) {
        switch observation {
        case .step: return
        case .accepted(let photos): figures.withLock { $0.add(photos) }
        case .cancelled(let photos): figures.withLock { $0.cancelled += photos }
        case .leaseLost: figures.withLock { $0.leasesLost += 1 }
        case .reportsAnswered(let time): figures.withLock { $0.report.observe(time) }
        case .redisAnswered(let time): figures.withLock { $0.roundTrip.observe(time) }
        case .redisReconnected: figures.withLock { $0.reconnects += 1 }
        }
    }

    /// The metrics in the text format of Prometheus.
    /// - Parameter spansDropped: the number of spans that could not be exported.
    package func text(_ gauges: WorkerGauges, spansDropped: Int) -> [UInt8] {
        let figures = figures.withLock { $0 }
        var text = MetricsText()
        figures.addPhotos(gauges, to: &text)
        figures.addCluster(gauges, to: &text)
        figures.addSlots(gauges, to: &text)
        text.counter(
            "darkroom_spans_dropped_total",
            "Spans of photos that were not exported, because the collector is unreachable, too slow or refuses them.",
            spansDropped)
        text.build(darkroomVersion)
        text.process(.current)
        return text.bytes
    }
}

extension WorkerMetrics.Figures {
    fileprivate mutating func add(_ accepted: AcceptedPhotos) {
        for photo in accepted.photos {
            switch photo.state {
            case .filtered: filtered += 1
            case .failed(let reason): failed[reason, default: 0] += 1
            case .cancelled, .new, .downloaded: continue  // no photo becomes final in a worker with these states
            }
            downloadBytes += photo.bytesIn
            outputBytes += photo.bytesOut
            duration.observe(accepted.reportEnded - accepted.claimed)
            for step in photo.steps(since: accepted.claimed) {
                let time = step.ended - step.began
                switch step.kind {
                case .wait: wait.observe(time)
                case .download: download.observe(time)
                case .filter: filter.observe(time)
                case .write: write.observe(time)
                }
            }
        }
    }

    // MARK: Text

    fileprivate func addPhotos(_ gauges: WorkerGauges, to text: inout MetricsText) {
        text.counter(
            "darkroom_photos_total", "Photos by result. Redis has accepted the results filtered and failed.",
            [
                .init(filtered, ["result": "filtered"]),
                .init(failed.values.reduce(0, +), ["result": "failed"]),
                .init(cancelled + gauges.photosCancelled, ["result": "cancelled"]),
            ])
        text.counter(
            "darkroom_photo_failures_total", "Failed photos by reason.",
            FailureReason.allCases.map { .init(failed[$0] ?? 0, ["reason": $0.word]) })
        text.counter("darkroom_download_bytes_total", "Downloaded bytes of these photos.", downloadBytes)
        text.counter("darkroom_output_bytes_total", "Written bytes of these photos.", outputBytes)
        text.histogram(
            "darkroom_photo_wait_seconds", "Time from the claim of a photo to the start of its download.", wait)
        text.histogram(
            "darkroom_photo_download_seconds", "Time of a download, with further attempts and the waits for them.",
            download)
        text.histogram(
            "darkroom_photo_filter_seconds", "Time to decode, filter and encode a photo.", filter)
        text.histogram("darkroom_photo_write_seconds", "Time to write the files of a photo.", write)
        text.histogram(
            "darkroom_photo_duration_seconds", "Time from the claim of a photo until Redis has accepted its result.",
            duration)
    }

    fileprivate func addCluster(_ gauges: WorkerGauges, to text: inout MetricsText) {
        text.histogram(
            "darkroom_report_seconds", "Time until Redis has replied to a pipeline of reports.", report)
        text.gauge(
            "darkroom_operations_held", "Operations whose leases the worker renews.", gauges.operationsHeld)
        text.counter(
            "darkroom_leases_lost_total", "Leases that the worker lost before it had reported all photos.", leasesLost)
        text.histogram(
            "darkroom_redis_round_trip_seconds", "Time until Redis has replied to a call.", roundTrip)
        text.counter("darkroom_redis_reconnects_total", "Further connections after the first one.", reconnects)
    }

    fileprivate func addSlots(_ gauges: WorkerGauges, to text: inout MetricsText) {
        text.gauge("darkroom_downloads_running", "Running downloads.", gauges.downloadsRunning)
        text.gauge("darkroom_downloads_limit", "Limit for the running downloads.", gauges.limits.downloads)
        text.gauge("darkroom_filtrations_running", "Running filtrations.", gauges.filtrationsRunning)
        text.gauge("darkroom_filtrations_limit", "Limit for the running filtrations.", gauges.limits.filtrations)
        text.gauge(
            "darkroom_hosts", "Hosts whose photos wait, run or have ended, by state.",
            gauges.hosts.map { .init($0.hosts, ["state": $0.state.rawValue]) })
        text.gauge(
            "darkroom_host_waiting_photos", "Photos that wait for a host, by the state of the host.",
            gauges.hosts.map { .init($0.photosWaiting, ["state": $0.state.rawValue]) })
        text.gauge("darkroom_bytes_held", "Downloaded bytes in memory.", gauges.bytesHeld)
    }
}
