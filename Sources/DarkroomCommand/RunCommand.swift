import ArgumentParsing
import Darkroom
import Foundation

/// `darkroom run`: the whole job on this machine.
struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "run", abstract: "Develop a photo list on this machine: everything in one command.",
        discussion: """
            The list is a property list, CSV, TSV, JSON, JSONL or a URL a line, each perhaps gzipped: a file, http(s)://, or - \
            for standard input; or a folder of photos.

            It brings its own Redis, whose data lie in the folder .darkroom of the output folder. Interrupted (Ctrl-C, a \
            crash, a power cut), the same command goes on where it was. A second Ctrl-C leaves without waiting for photos \
            that run.
            """,
        group: "Coordinator",
        examples: [
            "darkroom run photos.csv -o developed",
            "darkroom run holidays/ -o developed --filter tilt-shift=radius:3 --format webp",
        ])

    @Argument(help: "The photo list: a file, a URL, a folder of photos, or - for standard input.") var list: String
    @Option(
        name: .customLong("output", short: "o"), help: "The folder that the photos are written to.",
        valueName: "folder")
    var output: String
    @Flag(help: "Forget what was done in the output folder and do all again, over the same files.") var again: Bool
    @Flag(help: "Print the facts of the batch as JSON.") var json: Bool
    @OptionGroup(title: "Image options") var image: ImageOptions
    @OptionGroup(title: "Output options") var files: OutputOptions
    @OptionGroup(title: "Worker options") var slots: SlotOptions
    @OptionGroup(title: "Fetch options") var fetch: FetchOptions
    @Option(help: "Use this Redis and its workers, too, instead of a private one.", valueName: "url") var redis: String?
    @Option(help: "With --redis: what the keys begin with.", valueName: "name") var namespace: String = "darkroom"

    func validate() throws {
        if output.isEmpty { throw ValidationError("--output \"\": the folder's path is empty") }
        if let redis { _ = try RedisConfiguration(url: redis) }
        do { _ = try Keys(namespace: namespace) } catch { throw ValidationError("--\(error)") }
    }

    func run() throws {
        let interruption = RunInterruption()
        StopSignals.handle { interruption.signal($0) }
        let reader = try PhotoListReader(list)
        var options = BatchOptions()
        image.apply(to: &options)
        try files.apply(to: &options, output: output, list: reader)
        if redis == nil { options.retain = nil }

        let progress = LiveProgress(feedOnly: false)
        let folder = try RunFolder(output: options.output, overwrite: files.overwrite)
        let session = try RunSession(
            folder: folder, identity: identity(reader, options), options: options, overwrite: files.overwrite,
            again: again,
            shared: redis.map { try RedisConfiguration(url: $0) }, keys: Keys(namespace: namespace), progress: progress)
        defer { session.close() }
        defer { progress.end() }
        try report(session.develop(reader, worker: workerConfiguration(), interruption: interruption), progress)
    }

    private func report(_ outcome: RunSession.Outcome, _ progress: LiveProgress) throws {
        progress.end()
        let batch = outcome.batch
        guard !outcome.isInterrupted else {
            printToStandardError(
                "interrupted: \(HumanText.count(batch.counts.final)) of \(HumanText.count(batch.photos, of: "photo")) "
                    + (batch.sealed ? "" : "fed so far ") + "are done; the same command goes on from there")
            throw ExitCode.interrupted
        }
        let output = StandardOutput()
        if json {
            try output.line(JSON(batch, now: outcome.now).text)
        } else {
            if outcome.wasFinished { try output.line("nothing to do, this was done before (--again does it again):") }
            for line in BatchSummary(batch, now: outcome.now).lines { try output.line(line) }
        }
        try output.flush()
        throw ExitCode(of: batch)
    }

    /// What makes another run the same job.
    private func identity(_ reader: PhotoListReader, _ options: BatchOptions) throws -> RunIdentity {
        let shared = try redis.map { "\(try RedisConfiguration(url: $0).displayName), namespace \(namespace)" }
        return RunIdentity(list: listPath ?? reader.name, redis: shared ?? "private", options: options)
    }

    private func workerConfiguration() throws -> WorkerConfiguration {
        var configuration = WorkerConfiguration()
        slots.apply(to: &configuration)
        configuration.transfer = fetch.transferConfiguration(fileFolders: listFolder.map { [$0] } ?? [])
        configuration.maxPixels = fetch.maxPixels.value
        return configuration
    }

    /// The absolute path of a list that is a file or a folder.
    private var listPath: String? { list == "-" || list.contains("://") ? nil : absolutePath(list) }

    /// The list that is a folder, or the folder of a list that is a file: `file:` URLs below it may be read.
    private var listFolder: String? {
        guard let listPath else { return nil }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: listPath, isDirectory: &isFolder), !isFolder.boolValue else {
            return listPath
        }
        return URL(fileURLWithPath: listPath).deletingLastPathComponent().path
    }
}
