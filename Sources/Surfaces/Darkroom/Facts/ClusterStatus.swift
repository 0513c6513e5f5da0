import DarkroomStore

/// The state of one namespace of a Redis server: batches, workers and controls.
package struct ClusterStatus: Sendable {
    package static let states: [BatchState] = [.waiting, .ready, .executing, .finished]

    package let location: RedisLocation
    /// The batches that have not finished.
    package let batches: [BatchFacts]
    /// The running workers.
    package let workers: [WorkerFacts]
    package let controls: ClusterControls
    package let problems: BatchProblems
    /// Redis time, in milliseconds since 1970.
    package let now: Int
    /// The numbers of batches, including finished batches, by the state that users see.
    private let counted: [BatchState: Int]

    /// - Parameter finished: the number of batches that have finished.
    package init(
        location: RedisLocation, batches: [BatchFacts], finished: Int, workers: [WorkerFacts],
        controls: ClusterControls, problems: BatchProblems, now: Int
    ) {
        self.location = location
        self.batches = batches.filter { $0.state != .finished }
        self.workers = workers
        self.controls = controls
        self.problems = problems
        self.now = now
        counted = Self.counted(self.batches, problems, now).merging([.finished: finished]) { $1 }
    }

    /// Reads the state. The cost does not depend on the number of finished batches. Blocks.
    package init(_ client: DarkroomClient) throws {
        let now = try client.store.time()
        let open = try client.store.openBatchIDs()
        let all = try client.store.batchCount()
        let batches = try client.store.facts(of: open)
        let problems = try client.store.problems(of: batches, now: now)
        self.init(
            location: client.location, batches: batches, finished: max(0, all - open.count),
            workers: problems.workers, controls: problems.cluster, problems: problems, now: now)
    }

    package func json(_ wording: RemedyWording = .neutral) -> JSON {
        let states = Self.states.map { JSON.Member(key: $0.rawValue, value: .int(count($0))) }
        let facts: JSON = [
            "redis": .string(location.description), "namespace": .string(location.keys.namespace),
            "batches": .object(states),
            "photos": .int(batches.reduce(0) { $0 + $1.photos }), "counts": JSON(counts),
            "operations": ["queued": .int(queued), "executing": .int(executing)], "workers": .int(workers.count),
            "downloading": .int(total("downloading")), "filtering": .int(total("filtering")),
            "photosPerSecond": .int(total("rate")), "suspended": .bool(controls.isSuspended),
            "downloadsSuspended": .bool(controls.areDownloadsSuspended),
            "filtrationsSuspended": .bool(controls.areFiltrationsSuspended),
            "problems": .array(
                problems.of(batches).map { problem in
                    JSON(problem, wording).adding(["batch": JSON(problem.batch?.description)])
                }),
            "limits": ["downloads": JSON(controls.downloads), "filtrations": JSON(controls.filtrations)],
            "backlog": backlog.json(now: now),
        ]
        return facts.adding(JSON(topOf: hosts, wording))
    }

    /// The hosts of all running workers.
    package var hosts: HostList { problems.hosts(of: nil) }

    package var queued: Int { batches.reduce(0) { $0 + $1.operations - $1.operationsEnded - $1.executing } }
    package var executing: Int { batches.reduce(0) { $0 + $1.executing } }

    /// The photos of batches that have not finished.
    package var counts: PhotoCounts {
        batches.reduce(into: PhotoCounts()) { sum, batch in
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
