import ArgumentParsing
import Darkroom
import DarkroomStore

/// `darkroom status`: shows the cluster, or all facts of one batch.
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "status", abstract: "Show the state of the cluster, or all facts of one batch.", group: "Monitor",
        synonyms: ["info", "show", "stat"],
        examples: ["darkroom status", "darkroom status holidays --json"])

    @Argument(help: "The batch: its id, the beginning of its id, or its name.") var batch: String?
    @Flag(help: "Print JSON.") var json: Bool
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func run() throws {
        let (redis, batch) = try self.redis.resolving(self.batch)
        let client = try redis.connect()
        let wording = RemedyWording.commands(naming: redis.run)
        let output = StandardOutput()
        let now = try client.store.time()
        let batches: [BatchFacts]
        let problems: [BatchProblem]
        if let batch {
            let named = try client.store.batch(named: batch)
            let finder = try client.store.problems(of: [named], now: now)
            let found = finder.of(named)
            let hosts = finder.hosts(of: named.id)
            if json {
                let facts = JSON(named, now: now, problems: found, wording).adding(JSON(topOf: hosts, wording))
                try output.document(facts.adding(JSON(finder.waited(of: named), wording)))
            } else {
                let waited = finder.waited(of: named).text(wording)
                try BatchSheet(named, now: now, problems: found, waiting: hosts.waitText, waited: waited).sheet
                    .write(to: output)
            }
            (batches, problems) = ([named], found)
        } else {
            let cluster = try ClusterStatus(client)
            if json { try output.document(cluster.json(wording)) } else { try cluster.sheet.write(to: output) }
            (batches, problems) = (cluster.batches, cluster.problems.of(cluster.batches))
        }
        for problem in problems { printToStandardError("warning: \(problem.sentence(among: batches, wording))") }
    }
}
