import ArgumentParsing
import Darkroom

/// `darkroom batches`: lists all batches in the order of their submission.
struct BatchesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "batches", abstract: "List the batches.", group: "Monitor", synonyms: ["ls", "list", "jobs"],
        examples: ["darkroom batches", "darkroom batches --json"])

    @Flag(help: "Print the facts of all batches as a JSON array.") var json: Bool
    @OptionGroup var tableOptions: TableOptions
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func validate() throws { try tableOptions.require(isTable: !json) }

    func run() throws {
        let client = try redis.connect()
        let now = try client.store.time()
        let batches = try client.store.facts(of: try client.store.batchIDs())
        let problems = try client.store.problems(of: batches, now: now)
        let output = StandardOutput()
        if json {
            return try output.document(.array(batches.map { JSON($0, now: now, problems: problems.of($0)) }))
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
        for problem in problems.of(batches) { printToStandardError("warning: \(problem.sentence(among: batches))") }
        if batches.isEmpty, output.isTerminal {
            printToStandardError("There is no batch. \"darkroom submit LIST -o FOLDER\" submits one.")
        }
    }
}
