import ArgumentParsing
import Darkroom
import DarkroomText

/// `darkroom wait`: waits until batches have finished.
struct WaitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "wait", abstract: "Wait until batches have finished; by default all batches.",
        discussion: """
            Returns at once if the batches have finished. Exit status: 0 if all photos succeeded, 3 if photos failed, \
            4 if a batch was cancelled, 124 if the timeout passed first.
            """,
        group: "Monitor", examples: ["darkroom wait holidays --timeout 1h"])

    @Argument(help: "The batches: id, beginning of an id, or name.") var batch: [String]
    @Option(help: "How long to wait.", valueName: "duration") var timeout: Duration?
    @Flag(help: "Print the facts as JSON: one object if one batch is named, otherwise an array.") var json: Bool
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func run() throws {
        let (redis, run) = try self.redis.resolving(batch.count == 1 ? batch[0] : nil)
        let client = try redis.connect()
        let progress = LiveProgress(onlyOnTerminal: true)
        var waiter = BatchWaiter(client, wording: .commands(naming: redis.run), warn: progress.note)
        defer { progress.end() }
        let outcome = try waiter.wait(for: try batches(run.map { [$0] } ?? batch, client), timeout: timeout) {
            progress.show($0, problems: $1, now: $2)
            return false
        }
        progress.end()
        switch outcome {
        case .finished(let batches, let now):
            try print(batches, client, redis, now: now)
            let codes = batches.map(ExitCode.init(of:))
            throw [.failure, .cancelled, .photosFailed].first(where: codes.contains) ?? ExitCode.success
        case .timedOut(let batches, let now):
            try print(batches, client, redis, now: now)
            let open = batches.filter { $0.state != .finished }
            printToStandardError(
                "\(HumanText.count(open.count, of: "batch")) had not finished within \(timeout?.argumentText ?? "")")
            throw ExitCode.timedOut
        }
    }

    /// The named batches without duplicates; without names, all batches that have not finished.
    private func batches(_ names: [String], _ client: DarkroomClient) throws -> [BatchFacts] {
        if names.isEmpty {
            return try client.store.facts(of: try client.store.openBatchIDs()).filter { $0.state != .finished }
        }
        return try client.batches(named: names)
    }

    private func print(
        _ batches: [BatchFacts], _ client: DarkroomClient, _ redis: RedisOptions, now: Int
    ) throws {
        let output = StandardOutput()
        // The line of a batch shows a problem only if the batch executes. If the problems cannot be read, for example
        // because Redis has become unreachable, the facts are printed without them.
        let isShown = json || batches.contains { $0.state == .executing }
        let problems = isShown ? try? client.store.problems(of: batches, now: now) : nil
        if json {
            let facts = batches.map { batch in
                JSON(batch, now: now, problems: problems?.of(batch) ?? [], .commands(naming: redis.run))
            }
            return try output.document(batch.count == 1 ? facts[0] : .array(facts))
        }
        for batch in batches { try output.line(batch.summary(now: now, problems: problems?.of(batch) ?? [])) }
        try output.flush()
    }
}
