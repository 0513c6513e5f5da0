import ArgumentParsing
import Darkroom

/// `darkroom cancel`: cancels a batch, some of its photos, or all batches.
struct CancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "cancel", abstract: "Cancel a batch, some of its photos, or all batches.",
        discussion: """
            Photos that have not started do not start, running photos are stopped, and written files stay. Workers stop \
            within milliseconds, or with their next heartbeat (3 s) if a message was lost; with --wait the command \
            returns when no cancelled photo is running.

            It is not an error if the batch is already cancelled. If the batch has finished, the command changes \
            nothing and exits with status 1. With --photos, photos that are done are not changed, and this is not an \
            error.
            """,
        group: "Coordinator", synonyms: ["stop", "abort", "kill"],
        examples: [
            "darkroom cancel holidays --wait",
            "darkroom cancel holidays --photos 10-20,31",
            "darkroom cancel --all",
        ],
        mainOptions: ["photos", "all", "wait", "json", "redis", "namespace"])

    @Argument(help: "The batch: its id, the beginning of its id, or its name.") var batch: String?
    @Option(help: "Cancel only these photos, by their index from 0; they must be fed.", valueName: "ranges")
    var photos: PhotoRanges?
    @Flag(help: "Cancel every batch that has not finished.") var all: Bool
    @Flag(help: "Return when no cancelled photo is running.") var wait: Bool
    @Flag(help: "Print the facts of the batch as JSON; with --all, of the cluster.") var json: Bool
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func validate() throws {
        guard (batch == nil) == all else { throw ValidationError("name a batch, or cancel all with --all") }
        if photos != nil, all { throw ValidationError("--photos and --all: name the batch of these photos") }
        if photos != nil, wait { throw ValidationError("--photos and --wait: only a whole batch can be waited for") }
    }

    func run() throws {
        let (redis, batch) = try self.redis.resolving(self.batch)
        let client = try redis.connect()
        let output = ControlOutput(client: client, redis: redis, isJSON: json)
        guard let batch else { return try cancelAll(client, output) }
        let found = try client.store.batch(named: batch)
        if let photos { return try cancel(photos, of: found, client, output) }
        guard case .cancelled(let isNew, _) = try client.control.cancel(found.id) else {
            throw CommandError(
                "batch \(found.label) has finished: \(Self.done(found)), so there is nothing left to cancel")
        }
        var cancelled = try found.refreshed(client)
        if wait { cancelled = try waitForEnd(of: [cancelled], client, redis)[0] }
        let verb = isNew ? "is cancelled" : "was cancelled already"
        let running = cancelled.executing
        let rest = running == 0 ? "" : Self.operations(running, "still runs, ", "still run, ")
        try output.write("batch \(cancelled.label) \(verb): \(rest)\(Self.done(cancelled))", cancelled)
    }

    private func cancelAll(_ client: DarkroomClient, _ output: ControlOutput) throws {
        let cancelled = try client.control.cancelAll()
        if wait {
            let all = try client.store.facts(of: client.store.batchIDs())
            _ = try waitForEnd(of: all.filter(\.cancelled), client, redis)
        }
        let number = HumanText.count(cancelled, of: "batch")
        try output.write(
            cancelled == 0 ? "no batch was left to cancel" : "\(number) \(cancelled == 1 ? "is" : "are") cancelled",
            ["cancelled": .int(cancelled)])
    }

    private func cancel(
        _ photos: PhotoRanges, of batch: BatchFacts, _ client: DarkroomClient, _ output: ControlOutput
    ) throws {
        let result = try client.control.cancel(photos, of: batch.id)
        let cancelled = HumanText.count(result.cancelled, of: "photo")
        let before =
            "\(HumanText.count(result.wereFinal)) \(result.wereFinal == 1 ? "was" : "were") done or cancelled before"
        let sentence =
            "\(cancelled) of batch \(batch.label) \(result.cancelled == 1 ? "is" : "are") cancelled"
            + (result.wereFinal > 0 ? "; \(before)" : "")
        try output.write(
            sentence, try batch.refreshed(client),
            ["photosCancelled": .int(result.cancelled), "photosFinalBefore": .int(result.wereFinal)])
    }

    /// Blocks until these batches have finished. During the wait, recovers the operations of lost workers.
    private func waitForEnd(
        of batches: [BatchFacts], _ client: DarkroomClient, _ redis: RedisOptions
    ) throws -> [BatchFacts] {
        var waiter = BatchWaiter(client, wording: .commands(naming: redis.run), warn: { printToStandardError($0) })
        let running = batches.reduce(0) { $0 + $1.executing }
        if running > 0 {
            printToStandardError("waiting for " + Self.operations(running, "that still runs", "that still run"))
        }
        switch try waiter.wait(for: batches, timeout: nil) {
        case .finished(let batches, _), .timedOut(let batches, _): return batches
        }
    }

    private static func operations(_ count: Int, _ one: String, _ many: String) -> String {
        HumanText.count(count, of: "operation") + " " + (count == 1 ? one : many)
    }

    private static func done(_ batch: BatchFacts) -> String {
        let done = batch.counts.filtered + batch.counts.failed
        return
            "\(HumanText.count(done)) of \(HumanText.count(batch.photos, of: "photo")) \(done == 1 ? "was" : "were") done"
    }
}
