import ArgumentParsing
import Darkroom
import DarkroomText

/// `darkroom batches`: lists the newest batches in the order of their submission.
struct BatchesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "batches", abstract: "List the newest batches.", group: "Monitor", synonyms: ["ls", "list", "jobs"],
        examples: ["darkroom batches", "darkroom batches --json"])

    @Option(
        help: "The most batches that are listed; by default 200 in a table, and all with --json.", valueName: "count")
    var limit: Quantity?
    @Flag(help: "Print the facts of the batches as a JSON array.") var json: Bool
    @OptionGroup var tableOptions: TableOptions
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func validate() throws {
        try tableOptions.require(isTable: !json)
        try requireAtLeast(1, limit?.value ?? 1, "--limit")
    }

    func run() throws {
        let client = try redis.connect()
        let now = try client.store.time()
        let ids = try client.store.batchIDs()
        let most = limit?.value ?? (json ? .max : 200)
        let batches = try client.store.facts(of: Array(ids.suffix(most)))
        let problems = try client.store.problems(of: batches, now: now)
        let output = StandardOutput()
        if ids.count > most {
            let hidden = ids.count - most
            printToStandardError(
                "\(HumanText.count(hidden, of: "earlier batch")) not listed (--limit \(ids.count) lists all)")
        }
        if json {
            return try output.document(.array(batches.map { JSON($0, now: now, problems: problems.of($0), .commands) }))
        }
        var table = Table(
            [
                "batch", Table.Column("state", most: 20), Table.Column("photos", rank: 7),
                Table.Column("filtered", rank: 6),
                Table.Column("failed", rank: 5), Table.Column("cancelled", rank: 2), Table.Column("rate", rank: 3),
                Table.Column("priority", rank: 1), "name", Table.Column("notes", rank: 4),
            ], tableOptions, to: output)
        for batch in batches {
            try table.add([
                .text(batch.id.description), .text(batch.stateText(now: now, problems: problems.of(batch))),
                .count(batch.photos),
                .count(batch.counts.filtered), .count(batch.counts.failed), .count(batch.counts.cancelled),
                .rate(batch.photosPerSecond(now: now)), .text(batch.controls.priority.rawValue),
                .text(batch.options.name), .text(batch.controlsText),
            ])
        }
        try table.finish()
        for problem in problems.of(batches) {
            printToStandardError("warning: \(problem.sentence(among: batches, .commands))")
        }
        if batches.isEmpty, output.isTerminal {
            printToStandardError("There is no batch. \"darkroom submit LIST -o FOLDER\" submits one.")
        }
    }
}
