import ArgumentParsing
import Darkroom
import DarkroomCoordinator
import DarkroomFiles
import DarkroomStore
import DarkroomText

/// `darkroom submit`: splits a photo list into operations and feeds them.
struct SubmitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "submit", abstract: "Split a photo list into operations and feed them to the workers of a Redis.",
        discussion: """
            The list is a property list, CSV, TSV, JSON, JSONL or a URL a line, each perhaps gzipped: a file, http(s)://, or - \
            for standard input; or a folder of photos.

            Prints the batch's id at once and returns when all is fed: for a list larger than the window that is near the \
            end of the work. What is fed is developed without this program; an interrupted feed goes on with --resume. \
            When the batch is cancelled meanwhile, feeding stops and the status is 4.
            """,
        group: "Coordinator", synonyms: ["start", "add", "enqueue", "queue"],
        examples: [
            "darkroom submit photos.csv -o /mnt/photos --name holidays",
            "darkroom submit more.csv -o /mnt/more --priority high --after holidays",
            "darkroom submit photos.csv --resume holidays",
        ])

    @Argument(help: "The photo list: a file, a URL, a folder of photos, or - for standard input.") var list: String
    @Option(
        name: .customLong("output", short: "o"), help: "The folder that the photos are written to, on the workers too.",
        valueName: "folder")
    var output: String?
    @Option(
        help: "Go on feeding this batch with the same list, where it was interrupted, or where the list has grown.",
        valueName: "batch")
    var resume: String?
    @Option(
        help: """
            How many replicas of Redis must have the batch before it counts as submitted; unless given one, where there are \
            any. When fewer have it after 10 s, that is a warning.
            """,
        valueName: "count")
    var replicas: Int?
    @Flag(help: "Stay until the batch has finished, with progress.") var wait: Bool
    @Flag(help: "The output folder is not seen from here; workers make it.") var remoteOutput: Bool
    @Flag(help: "Print the facts of the batch as JSON.") var json: Bool
    @OptionGroup(title: "List options") var reading: ListReadingOptions
    @OptionGroup(title: "Image options") var image: ImageOptions
    @OptionGroup(title: "Output options") var files: OutputOptions
    @OptionGroup(title: "Queue options") var queue: QueueOptions
    @OptionGroup(title: "Options with --wait") var finish: FinishOptions
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    /// What can be said of a batch that was begun before, too.
    private static let optionsOfAnyBatch: Set = [
        "--resume", "--replicas", "--wait", "--json", "--on-finish", "--redis", "--namespace",
        "--recursive", "--url-column", "--name-column",
    ]

    func validate() throws {
        guard output != nil || resume != nil else {
            throw ValidationError(
                "name the output folder with -o <folder>, or the batch to go on with by --resume <batch>")
        }
        let ofANewBatch = givenOptions().filter { !Self.optionsOfAnyBatch.contains($0) }
        if resume != nil, output == nil, !ofANewBatch.isEmpty {
            throw ValidationError(
                "--resume goes on with what the batch was submitted with: leave out the options of a new batch "
                    + "(\(ofANewBatch.joined(separator: ", ")))")
        }
        for (folder, option) in [(output, "--output"), (files.originals, "--originals")] {
            guard let folder, remoteOutput, !Path.isAbsolute(folder) else { continue }
            throw ValidationError("\(option) \"\(folder)\": with --remote-output the path must be absolute")
        }
        try requireAtLeast(0, replicas ?? 0, "--replicas")
        if output == "" { throw ValidationError("--output \"\": the folder's path is empty") }
        if finish.onFinish != nil, !wait {
            throw ValidationError(
                "--on-finish: only with --wait, since this program must be there when the batch finishes; to be told "
                    + "without it there is --webhook <url>")
        }
    }

    func run() throws {
        let interruption = FeedInterruption(list: listName)
        StopSignals.handle { _ in interruption.leave() }
        let progress = LiveProgress(feedOnly: !wait)
        let reader = try reading.open(list, output: output) { progress.note($0) }
        let client = try redis.connect()
        for warning in try RedisRequirements.check(client.location.redis) { progress.note("warning: \(warning)") }

        let coordinator = client.coordinator(replicas: replicas) { progress.note($0.description) }
        let feed = try begin(reader, client, coordinator) { interruption.stage = .feeding($0) }
        let id = try feed.waitUntilBegun()
        if !json { try print(id.description) }
        let batch: BatchFacts
        let now: Int
        do {
            var waiter = BatchWaiter(client, warn: progress.note, isFeeding: { !feed.hasEnded })
            let isFed = try feed.waitUntilEnded(for: .milliseconds(300)) != nil
            if wait || !isFed { try watch(feed, id, client, progress, &waiter) { interruption.stage = .fed(id) } }
            let stands = try facts(of: id, feed, client, &waiter)
            // A feeder that waits for its list, from a pipe perhaps, learns of a cancel only when it goes on.
            if !stands.cancelled { _ = try feed.waitUntilEnded() }
            batch = stands.cancelled ? stands : try facts(of: id, feed, client, &waiter)
            now = try waiter.asking { try client.store.time() }
        } catch {
            progress.end()
            throw CommandError("\(error)" + advice(after: error, id, client))
        }
        interruption.stage = wait ? .finished(id) : .fed(id)
        progress.end()
        try report(batch, client, now: now)
    }

    /// Says what became of a batch that is fed, has finished or was cancelled.
    private func report(_ batch: BatchFacts, _ client: DarkroomClient, now: Int) throws {
        // When Redis has gone away since, what hinders the batch is not known.
        let problems = (try? client.store.problems(of: [batch], now: now))?.of(batch) ?? []
        if json {
            try print(JSON(batch, now: now, problems: problems).text)
        } else if !wait {
            for problem in problems { printToStandardError("warning: \(problem.sentence(among: [batch]))") }
        }
        if batch.cancelled { printToStandardError(batch.cancellation) }
        if wait {
            for line in BatchSummary(batch, now: now).lines where !json { printToStandardError(line) }
            try finish.finish(batch, now: now, redis: redis.configuration().displayName, namespace: redis.namespace)
        }
        if wait || batch.cancelled { throw ExitCode(of: batch) }
    }

    /// Shows how a batch goes on until it has finished; when nobody waits for that, until it is fed or cancelled.
    private func watch(
        _ feed: BatchFeed, _ id: BatchID, _ client: DarkroomClient, _ progress: LiveProgress,
        _ waiter: inout BatchWaiter,
        onFed: () -> Void
    ) throws {
        while true {
            // The facts are read after this: a feed that has ended changes nothing more.
            let hasEnded = feed.hasEnded
            let begun = try facts(of: id, feed, client, &waiter)
            let batch = try waiter.wait(for: begun) { batch, problems in
                progress.show(batch, problems: problems)
                if batch.cancelled { return !wait }
                let isFed = try feed.waitUntilEnded(for: .zero) != nil
                if isFed { onFed() }
                return isFed && !wait
            }
            if hasEnded || batch.cancelled { return }
            // A batch that had finished goes on when its list has grown.
            _ = try feed.waitUntilEnded(for: .milliseconds(100))
        }
    }

    /// How a batch stands, as soon as Redis can be asked; a feeder submits one again that a failover lost.
    private func facts(
        of id: BatchID, _ feed: BatchFeed, _ client: DarkroomClient, _ waiter: inout BatchWaiter
    ) throws -> BatchFacts {
        while true {
            if let facts = try waiter.asking({ try client.store.facts(of: id) }) { return facts }
            if let facts = try feed.waitUntilEnded(for: .milliseconds(100)) { return facts }
        }
    }

    /// Starts feeding a new batch or going on with an old one.
    /// - Parameter onBegun: told the batch by the feeding thread, before anybody else.
    private func begin(
        _ reader: PhotoListReader, _ client: DarkroomClient, _ coordinator: Coordinator,
        onBegun: @escaping @Sendable (BatchID) -> Void
    ) throws -> BatchFeed {
        // From here on the feeding thread alone uses the reader.
        nonisolated(unsafe) let reader = reader
        if let resume, let id = try begun(resume, client) {
            return BatchFeed(coordinator) { coordinator, tell in
                try coordinator.resume(id, reader) { id in
                    onBegun(id)
                    tell(id)
                }
            }
        }
        var options = BatchOptions()
        image.apply(to: &options)
        queue.apply(to: &options)
        try files.apply(to: &options, output: output ?? "", list: reader)
        options.remoteOutput = remoteOutput
        let before = try queue.batchesBefore(in: client)
        let lost = resume.flatMap { BatchID($0) }
        return BatchFeed(coordinator) { [options, files] coordinator, tell in
            try coordinator.submit(reader, as: lost, options: options, after: before, overwrite: files.overwrite) {
                id in
                onBegun(id)
                tell(id)
            }
        }
    }

    /// The batch to go on with; nil when Redis has lost it, and the options to submit it again are there.
    private func begun(_ name: String, _ client: DarkroomClient) throws -> BatchID? {
        do {
            let batch = try client.store.batch(named: name)
            guard output == nil else {
                throw CommandError(
                    "--resume \(batch.id): Redis has the batch, so it goes on with what it was submitted with: leave out --output "
                        + "and the other options of a new batch")
            }
            return batch.id
        } catch let error as StoreError where error.code == .noSuchBatch {
            guard name.wholeMatch(of: #/\d{8}-\d{9}-[0-9a-f]{4}/#) != nil else { throw error }
            guard output == nil else { return nil }
            throw CommandError(
                "\(error); if Redis has lost it in a failover, submit it again under its id, with the options that it had: darkroom "
                    + "submit \(listName) --resume \(name) -o <folder> ...")
        }
    }

    /// The list as messages call it: of a URL, user, password and query may be secrets.
    private var listName: String { list == "-" ? list : PhotoListReader.displayName(list) }

    /// What can be done about a batch whose list was not fed to its end.
    private func advice(after error: any Error, _ id: BatchID, _ client: DarkroomClient) -> String {
        let lasting: [CoordinatorError.Code] = [.listDiffers, .batchGone, .batchCancelled]
        if let error = error as? CoordinatorError, lasting.contains(error.code) { return "" }
        // A batch that is gone cannot be gone on with; while Redis is away nobody knows.
        do { if try client.store.facts(of: id) == nil { return "" } } catch {}
        return
            "\nbatch \(id) is not complete: go on with: darkroom submit \(ShellWord.quoted(listName)) --resume "
            + "\(id); or give it up with: "
            + "darkroom forget \(id)"
    }

    private func print(_ line: String) throws {
        let output = StandardOutput()
        try output.line(line)
        try output.flush()
    }
}
