import ArgumentParsing
import Darkroom
import DarkroomStore

/// `darkroom hosts`: lists the hosts of the photos in running workers.
struct HostsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "hosts", abstract: "List the servers of photos, ordered by the photos they hold up.",
        group: "Monitor", synonyms: ["servers"], examples: ["darkroom hosts", "darkroom hosts holidays"])

    @Argument(help: "The batch: its id, the beginning of its id, or its name.") var batch: String?
    @Flag(help: "Print JSON.") var json: Bool
    @OptionGroup var tableOptions: TableOptions
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func validate() throws { try tableOptions.require(isTable: !json) }

    func run() throws {
        let (redis, batch) = try self.redis.resolving(self.batch)
        let client = try redis.connect()
        let id = try batch.map { try client.store.batch(named: $0).id }
        let now = try client.store.time()
        let workers = try client.store.workers()
        let list = HostList(workers, now: now, of: id)
        let output = StandardOutput()
        if json { return try output.document(JSON(list, .commands)) }
        var table = Table(
            [
                "host", "state", "waiting", Table.Column("requests", rank: 5), Table.Column("rate", rank: 2),
                Table.Column("median", rank: 1), Table.Column("p95", rank: 3), Table.Column("downloaded", rank: 4),
                Table.Column("failed", rank: 7), Table.Column("reasons", rank: 6, most: 40),
                Table.Column("remedy", rank: 8),
            ], tableOptions, to: output)
        for host in list.hosts {
            let counts = host.counts
            try table.add([
                .text(host.host), .text(host.stateText), .count(counts.waiting),
                .text("\(host.running) of \(host.allowed)"), .rate(host.rate), .milliseconds(host.medianMilliseconds),
                .milliseconds(host.mostMilliseconds), .count(counts.downloaded), .count(counts.failed),
                .text(counts.reasonsText), .text(RemedyWording.commands.text(host.remedies)),
            ])
        }
        if list.others != HostFacts.Counts() {
            let others = list.others
            try table.add([
                .text("other hosts"), .text(""), .count(others.waiting), .text(""), .rate(nil), .milliseconds(nil),
                .milliseconds(nil), .count(others.downloaded), .count(others.failed), .text(others.reasonsText),
                .text(""),
            ])
        }
        try table.finish()
        guard list.isEmpty else { return }
        if workers.contains(where: { $0.isLiving(now: now) }) {
            let part = batch == nil ? "" : " of this batch"
            printToStandardError("No running worker has downloaded photos\(part) from a server, or waits for a server.")
        } else {
            printToStandardError("There is no running worker. \"darkroom worker\" starts one.")
        }
    }
}
