import ArgumentParsing
import Darkroom

/// `darkroom status`: the cluster, or all there is to know of a batch.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "status", abstract: "Show the cluster, or everything about one batch.", group: "Monitor",
        examples: ["darkroom status", "darkroom status holidays --json"])

    @Argument(help: "The batch: its id, the beginning of its id, or its name.") var batch: String?
    @Flag(help: "Print JSON.") var json: Bool
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func run() throws {
        let store = try redis.connect()
        let output = StandardOutput()
        let now = try store.time()
        let workers = try store.workers()
        let warnings = BatchWarnings(workers: workers, now: now)
        let named = try batch.map { try store.batch(named: $0) }
        let batches = try named.map { [$0] } ?? store.facts(of: store.batchIDs())
        if let named {
            let status = BatchStatus(named, now: now)
            if json { try output.document(JSON(named, now: now)) } else { try status.write(to: output) }
        } else {
            let living = workers.filter { $0.isLiving(now: now) }
            let cluster = ClusterStatus(
                redis: try redis.configuration().displayName, namespace: redis.namespace, batches: batches,
                workers: living)
            if json { try output.document(cluster.json) } else { try cluster.write(to: output) }
        }
        for warning in batches.flatMap(warnings.of) { printToStandardError("warning: \(warning.text)") }
    }
}
