import ArgumentParsing
import Darkroom

/// `darkroom retry`: runs the failed photos of a batch again.
struct RetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "retry", abstract: "Run the failed photos of a batch again.",
        discussion: """
            Only failed photos run again; with --reason, only photos that failed for one of these reasons. A finished \
            batch returns to the state executing; this does not affect batches that waited for it and have started. A \
            cancelled batch cannot be retried.

            For each batch, Redis keeps the names and URLs of failed photos of up to 10,000 operations. The command \
            prints the number of failed photos that it cannot run again; with the photo list (--list) it can.
            """,
        group: "Coordinator", synonyms: ["rerun", "redo"],
        examples: [
            "darkroom retry holidays", "darkroom retry holidays --reason timeout,http-5xx",
            "darkroom retry holidays --list photos.csv",
        ],
        mainOptions: [
            "reason", "list", "overwrite", "json", "redis", "namespace",
        ])

    @Argument(help: "The batch: its id, the beginning of its id, or its name.") var batch: String
    @Option(help: "Only photos that failed for these reasons, such as timeout,http-5xx.", valueName: "reasons")
    var reason: [FailureReasons]
    @Flag(help: "Retry even if another batch has taken the output folder, and replace its photos.") var overwrite: Bool
    @Flag(help: "Print the facts of the batch as JSON.") var json: Bool
    @OptionGroup(title: "List options") var list: RetryListOptions
    @OptionGroup(title: "Options with --list") var reading: ListReadingOptions
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func validate() throws {
        if list.list == nil, let option = reading.givenOptions().first {
            throw ValidationError("\(option): only with --list <list>")
        }
        try reading.requireSeed()
    }

    func run() throws {
        let (redis, client, found) = try redis.connect(to: batch)
        let reasons = reason.flatMap(\.reasons)
        try list.restore(found, in: client, reading)
        let retried = try client.control.retry(found.id, reasons: reasons, overwrite: overwrite)
        let output = ControlOutput(client: client, redis: redis, isJSON: json)
        try printResult(retried, of: try found.refreshed(client), reasons, output)
    }

    private func printResult(
        _ retried: RetriedPhotos, of batch: BatchFacts, _ reasons: [FailureReason], _ output: ControlOutput
    ) throws {
        let failed = reasons.isEmpty ? batch.counts.failed : reasons.reduce(0) { $0 + (batch.failures[$1] ?? 0) }
        let later = batch.state == .finished ? 0 : max(0, failed - retried.notKept)
        if retried.notKept > 0 {
            printToStandardError(
                "\(HumanText.count(retried.notKept, of: "failed photo")) of batch \(batch.label) stayed failed: Redis no longer "
                    + "has their names and URLs; with the list they can run again: darkroom retry \(batch.id) --list LIST"
            )
        }
        if later > 0 {
            printToStandardError(
                "\(HumanText.count(later, of: "failed photo")) of batch \(batch.label) stayed failed, because their operations "
                    + "have not ended; retry again when it has finished")
        }
        try output.write(
            sentence(retried, batch, reasons, isMoreLeft: later > 0), batch,
            ["retried": .int(retried.photos), "notKept": .int(retried.notKept)])
        try output.warn(of: batch)
        if retried.photos == 0, retried.notKept > 0 { throw ExitCode.failure }
    }

    private func sentence(
        _ retried: RetriedPhotos, _ batch: BatchFacts, _ reasons: [FailureReason], isMoreLeft: Bool
    ) -> String {
        if retried.photos > 0 {
            let photos = HumanText.count(retried.photos, of: "failed photo")
            return "\(photos) of batch \(batch.label) \(retried.photos == 1 ? "runs" : "run") again"
        }
        if retried.notKept > 0 || isMoreLeft { return "no photo of batch \(batch.label) runs again" }
        let because = reasons.isEmpty ? "" : " for " + reasons.map(\.word).joined(separator: " or ")
        if overwrite, !batch.options.output.isEmpty {
            return "batch \(batch.label) has its output folder again; no photo of it has failed\(because)"
        }
        return "no photo of batch \(batch.label) has failed\(because): there is nothing to retry"
    }
}
