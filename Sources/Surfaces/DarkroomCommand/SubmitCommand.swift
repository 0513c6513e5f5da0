import ArgumentParsing
import Darkroom
import DarkroomCoordinator
import DarkroomFiles
import DarkroomLists
import DarkroomStore
import DarkroomText

/// `darkroom submit`: splits a photo list into operations and feeds them to Redis.
struct SubmitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "submit", abstract: "Submit a photo list as a batch to the workers of a Redis.",
        discussion: """
            The list is a property list, CSV, TSV, JSON, JSONL or one URL per line, optionally gzipped: a file, \
            http(s)://, or - for standard input. A folder of photos is a list, too.

            The command prints the id of the batch at once and returns when the whole list is fed. If the list is \
            larger than the window, it returns near the end of the work. Workers develop the fed photos without this \
            command; --resume continues an interrupted feed. If the batch is cancelled while it is fed, the exit \
            status is 4.

            --filter x:NAME and x:NAME=ARGUMENTS are custom filters of the workers.
            """,
        group: "Coordinator", synonyms: ["start", "add", "enqueue", "queue"],
        examples: [
            "darkroom submit photos.csv -o /mnt/photos --name holidays --filter sepia",
            "darkroom submit more.csv -o /mnt/more --priority high --after holidays",
            "darkroom submit photos.csv --resume holidays",
            "darkroom submit photos.csv -o /mnt/photos --dry-run",
        ],
        mainOptions: [
            "output", "filter", "rendition", "format", "quality", "recursive", "limit",
            "name", "priority", "after", "wait", "resume", "dry-run", "redis",
        ])

    @Argument(help: "The photo list: a file, a URL, a folder of photos, or - for standard input.") var list: String
    @Option(
        name: .customLong("output", short: "o"), help: "The folder that workers write the photos to.",
        valueName: "folder",
        synonyms: Mistakes.namesOfOutput)
    var output: String?
    @Option(
        help: "Continue feeding this batch from the same list, after an interruption or after the list has grown.",
        valueName: "batch")
    var resume: String?
    @Option(
        help: """
            How many replicas of Redis must confirm the batch before it counts as submitted; by default 1 if there are \
            replicas. If fewer confirm it within 10 s, the command prints a warning.
            """,
        valueName: "count")
    var replicas: Int?
    @Flag(
        help: "Show progress and return when the batch has finished.",
        synonyms: ["w", "block", "follow", "progress"]) var wait: Bool
    @Flag(help: "The output folder is not on this machine; workers create it.") var remoteOutput: Bool
    @Flag(
        help: "Print what the command would do, and store nothing. Redis is checked only if it is reachable.",
        synonyms: ["n", "simulate", "check", "pretend"])
    var dryRun: Bool
    @Flag(help: "Print the facts of the batch as JSON.") var json: Bool
    @OptionGroup(title: "List options") var reading: ListReadingOptions
    @OptionGroup(title: "Image options") var image: ImageOptions
    @OptionGroup(title: "Output options") var files: OutputOptions
    @OptionGroup(title: "Queue options") var queue: QueueOptions
    @OptionGroup(title: "Options with --wait") var finish: FinishOptions
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    /// The options that are also valid with `--resume`.
    private static let optionsOfAnyBatch: Set = [
        "--resume", "--replicas", "--wait", "--json", "--on-finish", "--redis", "--redis-password-file",
        "--redis-ca", "--redis-cert", "--redis-key", "--namespace", "--recursive", "--url-column", "--name-column",
        "--quotes",
        "--limit", "--sample", "--seed",
    ]

    static func advice(onTooManyValues values: [String], options: [String]) -> String? {
        Mistakes.advice(onLists: values, options: options)
    }

    func validate() throws {
        guard output != nil || resume != nil else {
            throw ValidationError(
                "name the output folder with -o <folder>, or the batch to continue with --resume <batch>")
        }
        let ofANewBatch = givenOptions().filter { !Self.optionsOfAnyBatch.contains($0) }
        if resume != nil, output == nil, !ofANewBatch.isEmpty {
            throw ValidationError(
                "--resume continues with the options that the batch was submitted with: leave out the options of a new batch "
                    + "(\(ofANewBatch.joined(separator: ", ")))")
        }
        for (folder, option) in [(output, "--output"), (files.originals, "--originals")] {
            guard let folder, remoteOutput, !Path.isAbsolute(folder) else { continue }
            throw ValidationError("\(option) \"\(folder)\": with --remote-output the path must be absolute")
        }
        if dryRun, resume != nil || wait {
            throw ValidationError("--dry-run: only for a new batch, without --resume and --wait")
        }
        if resume != nil { try reading.requireSeed() }
        _ = try submission()
        if output == "" { throw ValidationError("--output \"\": the folder's path is empty") }
        if finish.onFinish != nil, !wait {
            throw ValidationError(
                "--on-finish: only with --wait, since this program must be running when the batch finishes; to be notified "
                    + "without it, use --webhook <url>")
        }
    }

    func run() throws {
        if let output { try Mistakes.refusePhoto(list, output: output) }
        let selection = reading.photoList(list).selection()
        let interruption = FeedInterruption(list: listName, selection)
        StopSignals.handle { _ in interruption.leave() }
        if resume == nil || output != nil { printToStandardError(try image.treatmentNote()) }
        if dryRun { return try describe() }
        let progress = LiveProgress(feedOnly: !wait)
        let photos = try reading.open(list, output: output, selection) { progress.note($0) }
        let client = try redis.connect()
        for warning in try RedisRequirements.check(client.location.redis) { progress.note("warning: \(warning)") }

        let coordinator = client.coordinator(replicas: replicas) { progress.note(RemedyWording.commands.text($0)) }
        let feed = try begin(photos, client, coordinator) { interruption.stage = .feeding($0) }
        let id = try feed.waitUntilBegun()
        if !json { try print(id.description) }
        let batch: BatchFacts
        let now: Int
        do {
            var waiter = BatchWaiter(client, wording: .commands, warn: progress.note, isFeeding: { !feed.hasEnded })
            let isFed = try feed.waitUntilEnded(for: .milliseconds(300)) != nil
            if wait || !isFed { try watch(feed, id, client, progress, &waiter) { interruption.stage = .fed(id) } }
            let current = try facts(of: id, feed, client, &waiter)
            // While a feeder waits for data of its list, for example from a pipe, it does not notice that its batch was
            // cancelled.
            if !current.cancelled { _ = try feed.waitUntilEnded() }
            batch = current.cancelled ? current : try facts(of: id, feed, client, &waiter)
            now = try waiter.asking { try client.store.time() }
        } catch {
            progress.end()
            throw CommandError(RemedyWording.commands.text(of: error) + advice(after: error, id, selection, client))
        }
        interruption.stage = wait ? .finished(id) : .fed(id)
        progress.end()
        try report(batch, client, now: now)
    }

    /// Prints the outcome of a batch that is fed, has finished or was cancelled.
    private func report(_ batch: BatchFacts, _ client: DarkroomClient, now: Int) throws {
        // If Redis is unreachable now, the problems are unknown, and none are printed.
        let finder = try? client.store.problems(of: [batch], now: now)
        let problems = finder?.of(batch) ?? []
        if json {
            try print(JSON(batch, now: now, problems: problems, .commands).text)
        } else if !wait {
            for problem in problems { printToStandardError("warning: \(problem.sentence(among: [batch], .commands))") }
        }
        if batch.cancelled { printToStandardError(batch.cancellation) }
        if wait {
            // If Redis is unreachable now, the summary has no examples.
            let examples = (try? client.store.firstFailures(of: batch)) ?? [:]
            let waited = finder?.waited(of: batch) ?? ResourceWaits()
            let summary = BatchSummary(batch, now: now, examples: examples, waited: waited)
            for line in summary.lines where !json { printToStandardError(line) }
            try finish.finish(batch, now: now, redis: redis.configuration().displayName, namespace: redis.namespace)
        }
        if wait || batch.cancelled { throw ExitCode(of: batch) }
    }

    /// Shows the progress of a batch until it has finished; without `--wait`, until it is fed or cancelled.
    private func watch(
        _ feed: BatchFeed, _ id: BatchID, _ client: DarkroomClient, _ progress: LiveProgress,
        _ waiter: inout BatchWaiter,
        onFed: () -> Void
    ) throws {
        while true {
            // `hasEnded` is read before the facts: if the feed has ended, the facts include its last operation.
            let hasEnded = feed.hasEnded
            let begun = try facts(of: id, feed, client, &waiter)
            let batch = try waiter.wait(for: begun) { batch, problems, now in
                progress.show(batch, problems: problems, now: now)
                if batch.cancelled { return !wait }
                let isFed = try feed.waitUntilEnded(for: .zero) != nil
                if isFed { onFed() }
                return isFed && !wait
            }
            if hasEnded || batch.cancelled { return }
            // A finished batch executes again if its list has grown, so wait until the feed has ended.
            _ = try feed.waitUntilEnded(for: .milliseconds(100))
        }
    }

    /// Reads the facts of a batch; waits while Redis is unreachable. If a failover lost the batch, waits until the
    /// feeder has submitted it again.
    private func facts(
        of id: BatchID, _ feed: BatchFeed, _ client: DarkroomClient, _ waiter: inout BatchWaiter
    ) throws -> BatchFacts {
        while true {
            if let facts = try waiter.asking({ try client.store.facts(of: id) }) { return facts }
            if let facts = try feed.waitUntilEnded(for: .milliseconds(100)) { return facts }
        }
    }

    /// The form with the values of the options.
    func submission() throws -> Submission {
        try namingOptions(image.name(of:)) {
            var form = Submission(reading.photoList(list))
            try image.fill(&form)
            try queue.fill(&form)
            try files.fill(&form, output: output ?? "")
            form.remoteOutput = remoteOutput
            form.replicas = replicas
            return try form.checked()
        }
    }

    /// Starts feeding a new batch or continues feeding an existing one.
    /// - Parameter onBegun: Called by the feeding thread with the id of the batch, before `waitUntilBegun` returns.
    private func begin(
        _ photos: SelectedPhotos, _ client: DarkroomClient, _ coordinator: Coordinator,
        onBegun: @escaping @Sendable (BatchID) -> Void
    ) throws -> BatchFeed {
        if let resume, let id = try begun(resume, client) {
            return client.feedRest(of: id, photos, coordinator, onBegun: onBegun)
        }
        try requireOverlays()
        let submission = try resolved(submission(), in: client)
        return try namingOptions {
            try client.feed(
                submission, photos, coordinator, as: resume.flatMap { BatchID($0) }, onBegun: onBegun)
        }
    }

    /// Throws if a picture of a watermark is missing. With `--remote-output`, the pictures are on the machines of the
    /// workers.
    func requireOverlays() throws { if !remoteOutput { _ = try image.recipe() } }

    /// Replaces the names of the batches that must finish first by their ids.
    func resolved(_ submission: Submission, in client: DarkroomClient) throws -> Submission {
        do {
            return try submission.resolved(in: client)
        } catch let error as FieldError {
            throw CommandError(error.text())
        }
    }

    /// The batch to continue; nil if Redis has lost the batch and the options for a new submission are given.
    private func begun(_ name: String, _ client: DarkroomClient) throws -> BatchID? {
        do {
            let batch = try client.store.batch(named: name)
            guard output == nil else {
                throw CommandError(
                    "--resume \(batch.id): Redis has the batch and its options: leave out --output and the other options of "
                        + "a new batch")
            }
            return batch.id
        } catch let error as StoreError where error.code == .noSuchBatch {
            guard name.wholeMatch(of: #/\d{8}-\d{9}-[0-9a-f]{4}/#) != nil else { throw error }
            guard output == nil else { return nil }
            throw CommandError(
                "\(error.problem); if Redis has lost it in a failover, submit it again under its id, with the options that it had: darkroom "
                    + "submit \(listName) --resume \(name) -o <folder> ...")
        }
    }

    /// The name of the list for messages. A URL is shown without user, password and query, which may be secrets.
    private var listName: String { list == "-" ? list : PhotoListReader.displayName(list) }

    /// The last part of an error message: commands that continue or remove an incomplete batch; empty if they cannot
    /// help.
    private func advice(
        after error: any Error, _ id: BatchID, _ selection: PhotoSelection, _ client: DarkroomClient
    ) -> String {
        let lasting: [CoordinatorError.Code] = [.listDiffers, .batchGone, .cancelled]
        if let error = error as? CoordinatorError, lasting.contains(error.code) { return "" }
        // A forgotten batch cannot be resumed. If Redis is unreachable, the batch may exist, so the advice is given.
        do { if try client.store.facts(of: id) == nil { return "" } } catch {}
        return
            "\nbatch \(id) is not complete: continue with: darkroom submit \(ShellWord.quoted(listName)) --resume "
            + "\(id)\(selection.argumentText); or remove it with: darkroom forget \(id) --force"
    }

    private func print(_ line: String) throws {
        let output = StandardOutput()
        try output.line(line)
        try output.flush()
    }
}
