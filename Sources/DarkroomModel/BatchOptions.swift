import DarkroomText

/// What a user asks of a batch besides its photos: every worker reads these from the batch's hash.
public struct BatchOptions: Sendable, Equatable {
    /// What users may call the batch; empty for none.
    public var name = ""
    /// The filters in order, each in its canonical form, such as `sepia=0.8` or `tilt-shift=radius:3`.
    public var filters = ["sepia=0.8"]
    /// The folder that the photos are written to, an absolute path on the workers' machines; empty when nothing is written.
    public var output = ""
    /// The format written (`jpeg`, `png`, ...), or `same` for the format that was read.
    public var format = "same"
    /// The quality of lossy formats, 1 to 100.
    public var quality = 85
    /// True when metadata and profile are left out.
    public var strip = false
    /// The template of file names, such as `{name}` or `{index}-{name}`.
    public var fileName = "{index}-{name}"
    /// True when workers make the output folder, because the coordinator does not see it.
    public var remoteOutput = false
    /// The most photos an operation has, 1 to 1,000.
    public var operationSize = 50
    /// How urgent the batch is.
    public var priority = Priority.normal
    /// How long a worker may be silent before others take what it holds; from 6 s to a day.
    public var lease = Duration.seconds(15)
    /// The most operations that are fed and have not ended.
    public var window = 10_000
    /// How long the batch is remembered after it has finished; nil for ever.
    public var retain: Duration? = .seconds(24 * 3600)
    /// True when it is cancelled if a batch that it waits for was cancelled or had failures.
    public var afterSuccess = false
    /// The folder that downloaded bytes are kept in, an absolute path on the workers' machines; empty for none.
    public var originals = ""
    /// The folder of its local photos, an absolute path on the workers' machines; empty if the photos are not local files.
    public var photosFolder = ""
    /// The URL that workers tell of its end; empty for none.
    public var webhook = ""

    /// True if the manifest leaves out query and fragment of URLs. It never has user and password.
    public var redactURLs = false

    /// The options that hold unless told.
    public init() {}
}

extension BatchOptions {
    /// The fields and values of the batch's hash that hold these options.
    public var fields: [(field: String, value: String)] {
        [
            ("name", name), ("filters", filters.joined(separator: " ")), ("output", output), ("format", format),
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

    /// The options that a batch's hash holds; a field that is missing or out of bounds has its default.
    public init(fields: [String: String]) {
        var stored = StoredFields(fields)
        self.init(&stored)
    }

    /// The options that a batch's hash holds; `fields` notes what is damaged.
    init(_ fields: inout StoredFields) {
        self.init()
        name = fields.text("name") ?? name
        filters = fields.text("filters").map { $0.split(separator: " ").map(String.init) } ?? filters
        output = fields.text("output") ?? output
        format = fields.text("format") ?? format
        quality = fields.optionalNumber("quality", in: 1...100) ?? quality
        strip = fields.isSet("strip")
        fileName = fields.text("file.name") ?? fileName
        remoteOutput = fields.isSet("remote.output")
        operationSize = fields.number("size", in: Self.operationSizes, otherwise: operationSize)
        priority = fields.word("priority") ?? priority
        lease = .milliseconds(
            fields.number("lease", in: Self.leaseMilliseconds, otherwise: lease.wholeMilliseconds))
        window = fields.optionalNumber("window", in: StoredBounds.photos) ?? window
        retain = fields.optionalNumber("retain", in: -1...StoredBounds.numbers.upperBound).flatMap {
            $0 < 0 ? nil : .milliseconds($0)
        }
        afterSuccess = fields.isSet("after.success")
        originals = fields.text("originals") ?? originals
        photosFolder = fields.text("photos.folder") ?? photosFolder
        webhook = fields.text("webhook") ?? webhook
        redactURLs = fields.isSet("redact.urls")
    }

    /// The options that are out of bounds, one phrase each: `quality is "200"`. Such a batch is refused at its submission.
    public var outOfBounds: [String] {
        var stored = StoredFields(Dictionary(uniqueKeysWithValues: fields))
        _ = BatchOptions(&stored)
        return stored.damage
    }

    /// How many photos an operation may have.
    public static let operationSizes = 1...1000

    /// The bounds of a lease in ms. A shorter lease would expire after two lost heartbeats; a longer one would delay the
    /// photos of a dead worker by more than a day.
    public static let leaseMilliseconds = 6000...86_400_000
}
