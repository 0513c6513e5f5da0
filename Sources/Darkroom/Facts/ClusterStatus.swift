import DarkroomStore

/// The state of one namespace of a Redis server: batches, workers and controls.
package struct ClusterStatus: Sendable {
    package static let states: [BatchState] = [.waiting, .ready, .executing, .finished]

    package let location: RedisLocation
    package let batches: [BatchFacts]
    /// The running workers.
    package let workers: [WorkerFacts]
    package let controls: ClusterControls
    package let problems: BatchProblems
    /// Redis time, in milliseconds since 1970.
    package let now: Int
    /// The numbers of batches by the state that users see.
    private let counted: [BatchState: Int]

    package init(
        location: RedisLocation, batches: [BatchFacts], workers: [WorkerFacts], controls: ClusterControls,
        problems: BatchProblems, now: Int
    ) {
        self.location = location
        self.batches = batches
        self.workers = workers
        self.controls = controls
        self.problems = problems
        self.now = now
        counted = Self.counted(batches, problems, now)
    }

    /// Reads the state. Blocks.
    package init(_ client: DarkroomClient) throws {
        let now = try client.store.time()
        self.now = now
        location = client.location
        batches = try client.store.facts(of: client.store.batchIDs())
        workers = try client.store.workers().filter { $0.isLiving(now: now) }
        controls = try client.store.clusterControls()
        problems = try client.store.problems(of: batches, now: now)
        counted = Self.counted(batches, problems, now)
    }

    package var json: JSON {
        let states = Self.states.map { JSON.Member(key: $0.rawValue, value: .int(count($0))) }
        let facts: JSON = [
            "redis": .string(location.description), "namespace": .string(location.keys.namespace),
            "batches": .object(states),
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
            "backlog": backlog.json(now: now),
        ]
        return facts.adding(JSON(topOf: hosts))
    }

    /// The hosts of all running workers.
    package var hosts: HostList { problems.hosts(of: nil) }

    private var open: [BatchFacts] { batches.filter { $0.state != .finished } }
    package var queued: Int { open.reduce(0) { $0 + $1.operations - $1.operationsEnded - $1.executing } }
    package var executing: Int { open.reduce(0) { $0 + $1.executing } }

    /// The photos of batches that have not finished.
    package var counts: PhotoCounts {
        open.reduce(into: PhotoCounts()) { sum, batch in
            sum.new += batch.counts.new
            sum.downloaded += batch.counts.downloaded
            sum.filtered += batch.counts.filtered
            sum.failed += batch.counts.failed
            sum.cancelled += batch.counts.cancelled
        }
    }

    private static func counted(_ batches: [BatchFacts], _ problems: BatchProblems, _ now: Int) -> [BatchState: Int] {
        batches.reduce(into: [:]) { counted, batch in
            let isExecuting = batch.state == .executing
            counted[isExecuting ? batch.shownState(now: now, problems: problems.of(batch)) : batch.state, default: 0] +=
                1
        }
    }

    package func count(_ state: BatchState) -> Int { counted[state] ?? 0 }

    /// The sum of a number that the workers report.
    package func total(_ field: String) -> Int { workers.reduce(0) { $0 + $1.number(field) } }
}
