import Darkroom
import DarkroomStore

/// The state of one namespace of a Redis server: batches, workers and controls.
struct ClusterStatus {
    private static let states: [BatchState] = [.waiting, .ready, .executing, .finished]

    let redis: String
    let namespace: String
    let batches: [BatchFacts]
    /// The running workers.
    let workers: [WorkerFacts]
    let controls: ClusterControls
    let problems: BatchProblems

    var json: JSON {
        let states = Self.states.map { JSON.Member(key: $0.rawValue, value: .int(count($0))) }
        return [
            "redis": .string(redis), "namespace": .string(namespace), "batches": .object(states),
            "photos": .int(open.reduce(0) { $0 + $1.photos }), "counts": JSON(counts),
            "operations": ["queued": .int(queued), "executing": .int(executing)], "workers": .int(workers.count),
            "downloading": .int(total("downloading")), "filtering": .int(total("filtering")),
            "photosPerSecond": .int(total("rate")), "suspended": .bool(controls.isSuspended),
            "downloadsSuspended": .bool(controls.areDownloadsSuspended),
            "filtrationsSuspended": .bool(controls.areFiltrationsSuspended),
            "problems": .array(
                problems.of(batches).map { problem in
                    JSON(problem).adding(["batch": JSON(problem.batch?.description)])
                }),
            "limits": ["downloads": JSON(controls.downloads), "filtrations": JSON(controls.filtrations)],
        ]
    }

    func write(to output: StandardOutput) throws {
        var sheet = FactSheet()
        sheet.add("redis", "\(redis), namespace \(namespace)")
        let states = Self.states.map { "\(HumanText.count(count($0))) \($0.rawValue)" }
        sheet.add("batches", states.joined(separator: ", "))
        sheet.add(
            "photos",
            "\(HumanText.count(counts.new + counts.downloaded)) to do, \(HumanText.count(counts.filtered)) filtered, "
                + "\(HumanText.count(counts.failed)) failed in batches that have not finished")
        sheet.add("operations", "\(HumanText.count(queued)) queued, \(HumanText.count(executing)) executing")
        sheet.add("workers", HumanText.count(workers.count))
        if let suspended = controls.suspendedText { sheet.add("cluster", suspended) }
        if let limits = controls.limitsText { sheet.add("limits", limits) }
        sheet.add("running", "\(total("downloading")) downloads, \(total("filtering")) filtrations")
        sheet.add("rate", HumanText.rate(Double(total("rate"))))
        try sheet.write(to: output)
    }

    private var open: [BatchFacts] { batches.filter { $0.state != .finished } }
    private var queued: Int { open.reduce(0) { $0 + $1.operations - $1.operationsEnded - $1.executing } }
    private var executing: Int { open.reduce(0) { $0 + $1.executing } }

    /// The photos of batches that have not finished.
    private var counts: PhotoCounts {
        open.reduce(into: PhotoCounts()) { sum, batch in
            sum.new += batch.counts.new
            sum.downloaded += batch.counts.downloaded
            sum.filtered += batch.counts.filtered
            sum.failed += batch.counts.failed
            sum.cancelled += batch.counts.cancelled
        }
    }

    private func count(_ state: BatchState) -> Int { batches.count { $0.state == state } }
    private func total(_ field: String) -> Int { workers.reduce(0) { $0 + $1.number(field) } }
}

extension ClusterStatus {
    init(_ client: DarkroomClient, _ redis: RedisOptions) throws {
        let now = try client.store.time()
        let batches = try client.store.facts(of: client.store.batchIDs())
        self.init(
            redis: try redis.configuration().displayName, namespace: redis.namespace,
            batches: batches,
            workers: try client.store.workers().filter { $0.isLiving(now: now) },
            controls: try client.store.clusterControls(), problems: try client.store.problems(of: batches, now: now))
    }
}

extension ClusterControls {
    /// The suspended parts, for example `downloads suspended`; nil if no part is suspended.
    var suspendedText: String? {
        HumanText.suspended(isSuspended, downloads: areDownloadsSuspended, filtrations: areFiltrationsSuspended)
    }

    /// The limits of each worker: `8 downloads, 2 filtrations at once in each worker`; nil if no limit is set.
    var limitsText: String? {
        let limits = [
            downloads.map { HumanText.count($0, of: "download") },
            filtrations.map { HumanText.count($0, of: "filtration") },
        ]
        let set = limits.compactMap(\.self)
        return set.isEmpty ? nil : set.joined(separator: ", ") + " at once in each worker"
    }
}
