import Darkroom
import DarkroomHTTP
import DarkroomMetrics
import DarkroomRedis
import DarkroomStore

/// The metrics of the cluster and of this server, in the text format of Prometheus.
enum MetricsRoute {
    static let all: [Route] = [
        Route(.get, "/metrics", access: .metrics) { call in
            var text = MetricsText()
            let status = try ClusterStatus(call.client)
            addCluster(status, try call.client.store.totals(), to: &text)
            let memory = try call.client.store.memory()
            text.gauge("darkroom_redis_memory_bytes", "Memory of Redis for its data.", memory.used)
            text.gauge(
                "darkroom_redis_memory_limit_bytes", "The most memory that Redis may use (maxmemory); 0 for no limit.",
                memory.limit)
            text.gauge("darkroom_watching_pages", "Pages that watch a batch.", call.site.hub.viewerCount)
            text.process(.current)
            text.build(darkroomVersion)
            return HTTPResponse(headers: [("Content-Type", MetricsText.contentType)], body: .bytes(text.bytes))
        }
    ]

    private static func addCluster(_ status: ClusterStatus, _ totals: ClusterTotals, to text: inout MetricsText) {
        text.counter(
            "darkroom_cluster_photos_total", "Photos of all workers by result.",
            [
                .init(totals.filtered, ["result": "filtered"]), .init(totals.failed, ["result": "failed"]),
                .init(totals.cancelled, ["result": "cancelled"]),
            ])
        text.counter("darkroom_cluster_download_bytes_total", "Downloaded bytes of all workers.", totals.bytesIn)
        text.counter("darkroom_cluster_output_bytes_total", "Written bytes of all workers.", totals.bytesOut)
        text.counter(
            "darkroom_cluster_leases_expired_total", "Leases that expired because a worker was lost.",
            totals.leasesExpired)
        text.gauge(
            "darkroom_batches", "Batches by state.",
            ClusterStatus.states.map { .init(status.count($0), ["state": $0.rawValue]) })
        let parts = status.backlog.parts
        text.gauge(
            "darkroom_backlog_photos", "Photos that workers could run now, by the priority of their batches.",
            parts.map { .init($0.photos, ["priority": $0.priority.rawValue]) })
        text.gauge(
            "darkroom_backlog_age_seconds",
            "Time since the oldest batch of the backlog was submitted; 0 without a backlog.",
            parts.map { part in
                .init(
                    part.oldest.map { Double(max(0, status.now - $0)) / 1000 } ?? 0,
                    ["priority": part.priority.rawValue])
            })
        text.gauge(
            "darkroom_operations", "Operations of batches that have not finished, by state.",
            [.init(status.queued, ["state": "queued"]), .init(status.executing, ["state": "executing"])])
        text.gauge(
            "darkroom_workers",
            "Running workers: those that sent a heartbeat in the last 10 s, or 30 s if they are idle.",
            status.workers.count)
        let hosts = Dictionary(grouping: status.hosts.hosts, by: \.state)
        text.gauge(
            "darkroom_cluster_hosts", "Hosts of photos in running workers by state, at most 64 of each worker.",
            HostFacts.State.allCases.map { .init(hosts[$0]?.count ?? 0, ["state": $0.rawValue]) })
        text.gauge(
            "darkroom_cluster_host_waiting_photos", "Photos that wait for these hosts, by the state of the host.",
            HostFacts.State.allCases.map { state in
                .init((hosts[state] ?? []).reduce(0) { $0 + $1.counts.waiting }, ["state": state.rawValue])
            })
        text.gauge(
            "darkroom_cluster_suspended", "Whether a part of the work is suspended in the whole cluster: 0 or 1.",
            [
                .init(status.controls.isSuspended ? 1 : 0, ["part": "everything"]),
                .init(status.controls.areDownloadsSuspended ? 1 : 0, ["part": "downloads"]),
                .init(status.controls.areFiltrationsSuspended ? 1 : 0, ["part": "filtrations"]),
            ])
    }
}
