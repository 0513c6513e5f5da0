import DarkroomText

/// The options of a batch.
public struct BatchOptions: Sendable, Equatable {
    /// The name of the batch for users; empty for none. Two unfinished batches cannot have the same name.
    public var name = ""
    /// The filters in their order, or a custom operation alone.
    public var filters: [PhotoFilter] = [.sepia()]
    /// The folder that the photos are written to: an absolute path on the workers' machines. Empty writes nothing.
    public var output = ""
    /// The format of the files that are written.
    public var format = PhotoFormat.same
    /// The quality of lossy formats, 1 to 100.
    public var quality = 85
    /// Leaves metadata and colour profile out of the files.
    public var strip = false
    /// The template of file names without extension: text with `{index}`, `{name}` or `{stem}` (the name without a picture's
    /// extension).
    public var fileName = "{index}-{name}"
    /// The workers create the output folder, because it is not visible to the submitting program.
    public var remoteOutput = false
    /// The most photos of an operation, 1 to 1,000.
    public var operationSize = 50
    /// The initial priority.
    public var priority = BatchPriority.normal
    /// The time without a heartbeat after which other workers take over a worker's operations: 6 seconds to 1 day.
    public var lease = Duration.seconds(15)
    /// The most fed operations that have not ended, at least 1. Feeding waits while there are as many.
    public var window = 10_000
    /// How long Redis keeps a finished batch; nil means without a limit.
    public var retain: Duration? = .seconds(24 * 3600)
    /// Cancels the batch if a batch that it waits for was cancelled or had failed photos.
    public var afterSuccess = false
    /// The folder for downloaded bytes: an absolute path on the workers' machines. Empty keeps none.
    public var originals = ""
    /// The URL to which workers post the completion of the batch, see the workers' webhook hosts; empty for none.
    public var webhook = ""
    /// Omits the query and fragment of URLs from the manifest. User and password are always omitted.
    public var redactURLs = false
    /// The folder of the local photos, an absolute path on the workers' machines; empty if the photos are not local files.
    package var photosFolder = ""

    /// The default options.
    public init() {}
}

extension BatchOptions {
    /// The fields and values of the batch's hash that hold these options.
    package var fields: [(field: String, value: String)] {
        [
            ("name", name), ("filters", filters.text), ("output", output), ("format", format.name),
            ("quality", String(quality)), ("strip", strip ? "1" : "0"), ("file.name", fileName),
            ("remote.output", remoteOutput ? "1" : "0"), ("size", String(operationSize)),
            ("priority", priority.rawValue), ("lease", String(lease.wholeMilliseconds)),
            ("window", String(min(window, StoredBounds.photos.upperBound))),
            ("retain", retain.map { String($0.wholeMilliseconds) } ?? "-1"),
            ("after.success", afterSuccess ? "1" : ""), ("originals", originals), ("photos.folder", photosFolder),
            ("webhook", webhook),
            ("redact.urls", redactURLs ? "1" : ""),
        ]
    }

    /// The options in a batch's hash. A field that is missing or out of bounds has its default.
    package init(fields: [String: String]) {
        var stored = StoredFields(fields)
        self.init(&stored)
    }

    /// The options in a batch's hash; `fields` records damage.
    init(_ fields: inout StoredFields) {
        self.init()
        name = fields.text("name") ?? name
        filters =
            fields.text("filters").map { $0.split(separator: " ").map { PhotoFilter(stored: String($0)) } } ?? filters
        output = fields.text("output") ?? output
        format = fields.text("format").map(PhotoFormat.init(stored:)) ?? format
        quality = fields.optionalNumber("quality", in: 1...100) ?? quality
        strip = fields.isSet("strip")
        fileName = fields.text("file.name") ?? fileName
        remoteOutput = fields.isSet("remote.output")
        operationSize = fields.number("size", in: Self.operationSizes, otherwise: operationSize)
        priority = fields.word("priority") ?? priority
        lease = .milliseconds(
            fields.number("lease", in: Self.leaseMilliseconds, otherwise: lease.wholeMilliseconds))
        window = fields.optionalNumber("window", in: Self.windows) ?? window
        retain = fields.optionalNumber("retain", in: -1...StoredBounds.numbers.upperBound).flatMap {
            $0 < 0 ? nil : .milliseconds($0)
        }
        afterSuccess = fields.isSet("after.success")
        originals = fields.text("originals") ?? originals
        photosFolder = fields.text("photos.folder") ?? photosFolder
        webhook = fields.text("webhook") ?? webhook
        redactURLs = fields.isSet("redact.urls")
    }

    /// The options that are out of bounds, one phrase each: `quality is "200"`. A batch with one of them cannot be submitted.
    package var outOfBounds: [String] {
        var stored = StoredFields(Dictionary(uniqueKeysWithValues: fields))
        _ = BatchOptions(&stored)
        return stored.damage
    }

    /// The bounds of ``window``. With a window of 0, feeding would wait without end.
    package static let windows = 1...StoredBounds.photos.upperBound

    /// The bounds of ``operationSize``.
    package static let operationSizes = 1...1000

    /// The bounds of a lease in ms. A shorter lease would expire after two lost heartbeats. A longer one would delay the photos of
    /// a lost worker by more than a day.
    package static let leaseMilliseconds = 6000...86_400_000
}
