import ArgumentParsing
import Darkroom
import DarkroomStore

/// `darkroom workers`: lists workers and their operations.
struct WorkersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "workers", abstract: "List the workers of the last hour, and their operations.",
        group: "Monitor", synonyms: ["ps", "nodes"], examples: ["darkroom workers"])

    @Flag(help: "Print the facts of all workers as a JSON array.") var json: Bool
    @OptionGroup var tableOptions: TableOptions
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func validate() throws { try tableOptions.require(isTable: !json) }

    func run() throws {
        let client = try redis.connect()
        let now = try client.store.time()
        let workers = try client.store.workers()
        let output = StandardOutput()
        if json { return try output.document(.array(workers.map { JSON($0, now: now) })) }
        var table = Table(
            [
                "worker", Table.Column("host", rank: 2), Table.Column("pid", rank: 1), "seen",
                Table.Column("downloads", rank: 5), Table.Column("filtrations", rank: 4),
                Table.Column("photos", rank: 3), Table.Column("rate", rank: 6),
                Table.Column("operations", rank: 7, most: 32), Table.Column("refuses", rank: 8),
            ], tableOptions, to: output)
        for worker in workers {
            // The stored state of a lost worker is outdated, because other workers may have claimed its operations.
            let isLiving = worker.isLiving(now: now)
            func current(_ cell: Cell) -> Cell { isLiving ? cell : .text("-") }
            let operations = worker.operations.isEmpty ? "-" : worker.operations.joined(separator: " ")
            try table.add([
                .text(worker.id), .text(worker.fields["host"] ?? ""), .text(worker.fields["pid"] ?? ""),
                .text(worker.seenText(now: now)),
                current(.text("\(worker.number("downloading")) of \(worker.number("downloads"))")),
                current(.text("\(worker.number("filtering")) of \(worker.number("filtrations"))")),
                .count(worker.number("photos")), current(.rate(Double(worker.number("rate")))),
                current(.text(operations)), .text(isLiving ? worker.refusedText : ""),
            ])
        }
        try table.finish()
        let controls = try client.store.clusterControls()
        if let limits = controls.limitsText { printToStandardError("limited to \(limits)") }
        if let suspended = controls.suspendedText { printToStandardError("the cluster: \(suspended)") }
        if workers.isEmpty, output.isTerminal {
            printToStandardError("There is no worker. \"darkroom worker\" starts one.")
        }
    }
}
