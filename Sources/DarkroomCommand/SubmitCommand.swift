import ArgumentParsing
import Darkroom

/// `darkroom submit`: splits a photo list into operations and feeds them.
struct SubmitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "submit", abstract: "Split a photo list into operations and feed them to the workers of a Redis.",
        discussion: """
            The list is a property list, CSV, TSV, JSON, JSONL or a URL a line, each perhaps gzipped: a file, http(s)://, or - \
            for standard input; or a folder of photos.

            Prints the batch's id at once and returns when all is fed: for a list larger than the window that is near the \
            end of the work. What is fed is developed without this program; an interrupted feed goes on with --resume.
            """,
        group: "Coordinator",
        examples: [
            "darkroom submit photos.csv -o /mnt/photos --name holidays",
            "darkroom submit photos.csv --resume holidays",
        ])

    @Argument(help: "The photo list: a file, a URL, a folder of photos, or - for standard input.") var list: String
    @Option(
        name: .customLong("output", short: "o"), help: "The folder that the photos are written to, on the workers too.",
        valueName: "folder")
    var output: String?
    @Option(help: "Go on feeding this batch with the same list, where it was interrupted.", valueName: "batch")
    var resume: String?
    @Flag(help: "Stay until the batch has finished, with progress.") var wait: Bool
    @Flag(help: "The output folder is not seen from here; workers make it.") var remoteOutput: Bool
    @Flag(help: "Print the facts of the batch as JSON.") var json: Bool
    @OptionGroup(title: "Image options") var image: ImageOptions
    @OptionGroup(title: "Output options") var files: OutputOptions
    @OptionGroup(title: "Queue options") var queue: QueueOptions
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func validate() throws {
        guard (output == nil) != (resume == nil) else {
            throw ValidationError(
                "name the output folder with -o <folder>, or the batch to go on with by --resume <batch>")
        }
        if resume != nil, hasOptionsOfANewBatch {
            throw ValidationError(
                "--resume goes on with what the batch was submitted with: leave out the options of a new batch")
        }
        if output == "" { throw ValidationError("--output \"\": the folder's path is empty") }
        if remoteOutput, let output, !output.hasPrefix("/") {
            throw ValidationError("--output \"\(output)\": with --remote-output the path must be absolute")
        }
    }

    private var hasOptionsOfANewBatch: Bool {
        !image.filter.isEmpty || image.format != .same || image.quality != 85 || image.strip || remoteOutput
            || files.fileName != nil || files.overwrite || queue.name != nil || queue.operationSize != 50
            || queue.lease != .seconds(15) || queue.window != 10_000
    }

    func run() throws {
        let interruption = FeedInterruption(list: list)
        StopSignals.handle { _ in interruption.leave() }
        let reader = try PhotoListReader(list)
        let store = try redis.connect()
        let progress = LiveProgress(feedOnly: !wait)
        for warning in try RedisRequirements.check(redis.configuration()) { progress.note("warning: \(warning)") }

        let feed = try begin(reader, store, Coordinator(store: store) { progress.note($0.description) })
        let id = try feed.waitUntilBegun()
        interruption.stage = .feeding(id)
        if !json { try print(id.description) }
        do {
            let fed = try feed.waitUntilEnded(for: .milliseconds(300))
            if fed == nil || wait { try watch(feed, id, store, progress) { interruption.stage = .fed(id) } }
            _ = try feed.waitUntilEnded()
        } catch {
            progress.end()
            throw CommandError("\(error)" + advice(after: error, id, store))
        }
        let batch = try store.batch(named: id.description)
        progress.end()
        let now = try store.time()
        if json { try print(JSON(batch, now: now).text) }
        guard wait else { return }
        for line in BatchSummary(batch, now: now).lines where !json { printToStandardError(line) }
        throw ExitCode(of: batch)
    }

    /// Shows how a batch goes on until it has finished, or is only fed when nobody waits for more.
    private func watch(
        _ feed: BatchFeed, _ id: BatchID, _ store: BatchStore, _ progress: LiveProgress, onFed: () -> Void
    ) throws {
        var waiter = BatchWaiter(store, redis: try redis.configuration().displayName, warn: progress.note)
        _ = try waiter.wait(for: store.batch(named: id.description)) { batch in
            progress.show(batch)
            let isFed = try feed.waitUntilEnded(for: .zero) != nil
            if isFed { onFed() }
            return isFed && !wait
        }
    }

    /// Starts feeding a new batch or going on with an old one.
    private func begin(_ reader: PhotoListReader, _ store: BatchStore, _ coordinator: Coordinator) throws -> BatchFeed {
        // From here on the feeding thread alone uses the reader.
        nonisolated(unsafe) let reader = reader
        if let resume {
            let id = try store.batch(named: resume).id
            return BatchFeed { onBegun in
                onBegun(id)
                return try coordinator.resume(id, reader)
            }
        }
        var options = BatchOptions()
        image.apply(to: &options)
        queue.apply(to: &options)
        try files.apply(to: &options, output: output ?? "", list: reader)
        options.remoteOutput = remoteOutput
        return BatchFeed { [options, files] onBegun in
            try coordinator.submit(reader, options: options, overwrite: files.overwrite, onSubmitted: onBegun)
        }
    }

    /// What can be done about a batch whose list was not fed to its end.
    private func advice(after error: any Error, _ id: BatchID, _ store: BatchStore) -> String {
        let lasting: [CoordinatorError.Code] = [.listDiffers, .batchGone, .batchSealed]
        if let error = error as? CoordinatorError, lasting.contains(error.code) { return "" }
        // A batch that is gone cannot be gone on with; while Redis is away nobody knows.
        do { if try store.facts(of: id) == nil { return "" } } catch {}
        return "\nbatch \(id) is not complete: go on with darkroom submit \(list) --resume \(id), or give it up with "
            + "darkroom forget \(id)"
    }

    private func print(_ line: String) throws {
        let output = StandardOutput()
        try output.line(line)
        try output.flush()
    }
}
