import ArgumentParsing
import Darkroom
import DarkroomCoordinator
import DarkroomLists
import DarkroomLogging
import DarkroomStorage
import DarkroomTelemetry
import DarkroomWorker
import Foundation

/// `darkroom run`: develops a photo list on this machine.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "run", abstract: "Develop a photo list on this machine with one command.",
        discussion: """
            The list is a property list, CSV, TSV, JSON, JSONL or one URL per line, optionally gzipped: a file, \
            http(s)://, or - for standard input. A folder of photos is a list, too.

            The command starts a private Redis, which stores its data in the folder .darkroom of the output folder. \
            After an interruption (Ctrl-C, a crash, a power cut), run the same command to continue. A second Ctrl-C \
            exits without waiting for running photos. If the list has grown, only the new photos are developed.

            While it runs, other terminals can watch and control it (darkroom watch, status, cancel, suspend, focus, \
            ...): give its output folder in place of a batch. If the batch is cancelled, the exit status is 4.
            """,
        group: "This machine", synonyms: ["start"],
        examples: [
            "darkroom run photos.csv -o developed --filter sepia",
            "darkroom run holidays/ -o developed --filter tilt-shift=radius:3 --format webp",
            "darkroom run photos.csv -o developed --retry",
        ],
        mainOptions: [
            "output", "filter", "rendition", "format", "quality", "recursive", "limit",
            "rate", "retry", "again", "dry-run", "serve",
        ])

    @Argument(help: "The photo list: a file, a URL, a folder of photos, or - for standard input.") var list: String
    @Option(
        name: .customLong("output", short: "o"), help: "The folder that the photos are written to.",
        valueName: "folder",
        synonyms: Mistakes.namesOfOutput)
    var output: String
    @Flag(
        help: """
            Forget the earlier run in the output folder, develop all photos again and replace their files. Files of \
            photos that are no longer in the list stay; the command prints their names.
            """,
        synonyms: ["force", "f", "restart", "fresh", "replace"]) var again: Bool
    @Flag(help: "When all photos are done, run the failed photos once more.") var retry: Bool
    @Flag(
        help: "Print what the command would do, and store nothing.",
        synonyms: ["n", "simulate", "check", "pretend"]) var dryRun: Bool
    @Flag(help: "Print the facts of the batch as JSON.") var json: Bool
    @Flag(
        help: """
            Show the photos in the browser while the command runs, and print the address. On a terminal, the command then \
            runs until Ctrl-C.
            """,
        synonyms: ["web", "browser"])
    var serve: Bool
    @OptionGroup(title: "When it has finished") var finish: FinishOptions
    @OptionGroup(title: "List options") var reading: ListReadingOptions
    @OptionGroup(title: "Image options") var image: ImageOptions
    @OptionGroup(title: "Output options") var files: OutputOptions
    @OptionGroup(title: "Worker options") var slots: SlotOptions
    @OptionGroup(title: "Custom filter options") var customFilters: CustomFilterOptions
    @OptionGroup(title: "Disk options") var disk: DiskOptions
    @OptionGroup(title: "Fetch options") var fetch: FetchOptions
    @Option(help: "Use this Redis instead of a private Redis; its workers take part in the run.", valueName: "url")
    var redis: String?
    @Option(
        help: """
            With --redis: how many of its replicas must confirm the batch before it counts as fed; by default 1 if it \
            has replicas.
            """,
        valueName: "count")
    var replicas: Int?
    @OptionGroup(title: "Redis options") var access: RedisAccessOptions
    @Option(help: "With --redis: the prefix of the keys.", valueName: "name") var namespace: String = "darkroom"

    static func advice(onTooManyValues values: [String], options: [String]) -> String? {
        Mistakes.advice(onLists: values, options: options)
    }

    func advice(onUnknownOption name: String, value: String?) -> OptionAdvice? {
        guard ["port", "p", "listen", "address", "addr", "bind"].contains(name) else { return nil }
        return OptionAdvice("--serve shows the photos in the browser, on a free port", usesValue: true)
    }

    func validate() throws {
        if output.isEmpty { throw ValidationError("--output \"\": the folder's path is empty") }
        if let redis { _ = try access.configuration(url: redis) }
        _ = try submission()
        if replicas != nil, redis == nil {
            throw ValidationError("--replicas: the Redis of a run has none; only with --redis <url>")
        }
        let missing = try image.renditions().flatMap(\.filters.customNames).first { !customFilters.has($0) }
        if let missing, redis == nil {
            throw ValidationError(
                "--filter x:\(missing): the worker of this run has no such filter; give its command with --custom-filter "
                    + "\(missing)='...', or the Redis of workers that have it, with --redis <url>")
        }
        do { _ = try Keys(namespace: namespace) } catch { throw ValidationError("--\(error)") }
    }

    /// The form with the values of the options.
    private func submission() throws -> Submission {
        try namingOptions(image.name(of:)) {
            var form = Submission(reading.photoList(list))
            try image.fill(&form)
            try files.fill(&form, output: output)
            form.replicas = replicas
            return try form.checked()
        }
    }

    func run() throws {
        try Mistakes.refusePhoto(list, output: output)
        let submission = try submission()
        let interruption = RunInterruption()
        StopSignals.handle { interruption.signal($0) }
        let progress = LiveProgress()
        if geteuid() == 0, !dryRun, RootWarning.isDue() { progress.note(RootWarning.text) }
        let selection = submission.list.selection(
            earlier: RunFolder.earlier(inOutput: submission.output)?.identity.sample)
        let photos = try reading.open(list, output: output, selection) { progress.note($0) }
        _ = try image.recipe()
        try image.requireFormats()
        progress.note(try image.treatmentNote())
        var options = try namingOptions { try submission.options(for: photos.list) }
        // In a list of paths, each file is checked separately: one missing folder does not stop photos in other
        // folders.
        if redis == nil, photos.list.format != .folder { options.photosFolder = "" }
        if dryRun { return try describe(photos, options, progress) }
        if redis == nil { options.retain = nil }
        SocketFolder.removeAbandoned()

        let worker = try workerConfiguration(photos.list)
        let folder = try RunFolder(output: options.output, overwrite: files.overwrite)
        let session = try RunSession(
            folder: folder, identity: identity(photos, options), conditions: conditions(), options: options,
            overwrite: files.overwrite, again: again,
            shared: redis.map { try access.configuration(url: $0) }, keys: Keys(namespace: namespace),
            progress: progress)
        defer { session.close() }
        let server = serve ? try RunServer(session.client, of: options) : nil
        defer { server?.stop() }
        defer { progress.end() }
        if let server { progress.note("the photos are shown at \(server.url)") }
        let traceLog = Logger(label: "traces", level: .warning, handler: NoteLog(note: progress.note))
        let telemetry = WorkerTelemetry(hasMetrics: false, logger: traceLog) { progress.note("warning: \($0)") }
        defer { telemetry.stop() }
        let outcome = try session.develop(
            photos, worker: worker, telemetry: telemetry, retry: retry, replicas: replicas,
            interruption: interruption)
        progress.end()
        try report(outcome)
        interruption.onFirst(nil)
        try finish.finish(
            outcome.batch, now: outcome.now, redis: session.redisURL, namespace: namespace)
        if let server, isatty(STDERR_FILENO) == 1 { server.waitForInterrupt(interruption) }
        throw ExitCode(of: outcome.batch)
    }

    /// Prints the effects that this command would have on the photos.
    private func describe(_ photos: SelectedPhotos, _ options: BatchOptions, _ progress: LiveProgress) throws {
        let identity = try identity(photos, options)
        // The folder is examined first, so that an error about the folder is reported at once.
        _ = try RunFolder.examine(output: options.output, overwrite: files.overwrite)
        let outputExists = try CoordinatorError.storing { () throws(StorageError) in
            try StorageSchemes.place(options.output).examine(renditions: options.renditions.map(\.name))
        }
        let folders = try workerConfiguration(photos.list).downloadRules.folders
        let report = try DryRun(photos, options, outputExists: outputExists, fileFolders: folders, progress)
        let action = try PlannedAction(
            ofRun: identity, conditions(), photos: report.examination.photos, overwrite: files.overwrite, again: again,
            retry: retry)
        try report.write(action, besides: BatchOptions(), warnings: action.warnings, isJSON: json)
    }

    /// Prints the outcome of the batch.
    /// - Throws: ``ExitCode/interrupted`` if the run was interrupted.
    private func report(_ outcome: RunSession.Outcome) throws {
        let batch = outcome.batch
        let adviceToBeginAgain = "--again develops all photos again over the same files"
        guard !outcome.isInterrupted else {
            let progress =
                "\(HumanText.count(batch.counts.final)) of \(HumanText.count(batch.photos, of: "photo")) "
                + (batch.sealed ? "" : "fed so far ") + "are done; run the same command again to continue"
            printToStandardError(
                "interrupted: " + (batch.cancelled ? "\(batch.cancellation); \(adviceToBeginAgain)" : progress))
            throw ExitCode.interrupted
        }
        let output = StandardOutput()
        if json {
            try output.line(JSON(batch, now: outcome.now).text)
        } else {
            if outcome.wasFinished {
                let advice = batch.counts.failed > 0 ? "--retry runs the failed photos again, " : ""
                try output.line(
                    "nothing to do, an earlier run has finished this list (\(advice)--again develops all photos "
                        + "again):")
            }
            let summary = BatchSummary(
                batch, now: outcome.now, examples: outcome.failures, waited: outcome.waited)
            for line in summary.lines { try output.line(line) }
        }
        try output.flush()
        if batch.cancelled { printToStandardError("\(batch.cancellation); \(adviceToBeginAgain)") }
    }

    /// The list, the Redis server and the options. A later run compares these values to recognize the same job.
    private func identity(_ photos: SelectedPhotos, _ options: BatchOptions) throws -> RunIdentity {
        let shared = try redis.map { "\(try access.configuration(url: $0).displayName), namespace \(namespace)" }
        return RunIdentity(
            list: listPath ?? photos.list.name, photos.selection, redis: shared ?? "private", options: options)
    }

    func conditions() throws -> RunConditions { try RunConditions(fetch, slots, customFilters, disk) }

    private func workerConfiguration(_ list: PhotoListReader) throws -> PhotoWorkerConfiguration {
        var configuration = try PhotoWorkerConfiguration([slots, customFilters, disk, fetch])
        configuration.useThisProgramAsHelper(arguments: [])
        configuration.downloadRules.folders = fileFolders(of: list) + (try fetch.folders)
        configuration.watermarkFolders = try image.watermarkFolders()
        return configuration
    }

    /// The folders from which the worker may read files, in addition to those of `--files-under`. For a local list,
    /// which the user of this command has chosen, these are all folders. With a shared Redis, they are only the folders
    /// of the list, because other users could submit lists, too. A list on the web may not name files of this machine.
    private func fileFolders(of list: PhotoListReader) -> [String] {
        guard self.list == "-" || listPath != nil else { return [] }
        guard redis != nil else { return ["/"] }
        return [listFolder, list.photosFolder].compactMap { $0 }.filter { !$0.isEmpty }
    }

    /// The absolute path of the list; nil if the list is standard input or a URL.
    private var listPath: String? { list == "-" || list.contains("://") ? nil : absolutePath(list) }

    /// The list if it is a folder, otherwise the folder of the list file; nil if the list has no path.
    private var listFolder: String? {
        guard let listPath else { return nil }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: listPath, isDirectory: &isFolder), !isFolder.boolValue else {
            return listPath
        }
        return URL(fileURLWithPath: listPath).deletingLastPathComponent().path
    }
}
