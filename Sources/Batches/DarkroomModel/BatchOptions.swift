import DarkroomRecipes
import DarkroomText

/// The options of a batch.
public struct BatchOptions: Sendable, Equatable {
    /// The name of the batch for users; empty if the batch has no name. Unfinished batches must have different names.
    public var name = ""
    /// The filters, in the order in which they are applied; by default none, so that photos are kept byte for byte
    /// unless the ``encoding`` requires a change. Empty if there are ``renditions``.
    public var filters: [PhotoFilter] = []
    /// The files that are made of each photo, each in a separate folder; empty for one file, which is made by
    /// ``filters``.
    public var renditions: [PhotoRendition] = []
    /// The encoding of the files.
    public var encoding = PhotoEncoding()
    /// The output folder: an absolute path on the workers' machines. If empty, no files are written.
    public var output = ""
    /// The treatment of photos whose files have defects.
    public var damagedPhotos = DamagedPhotos.tolerate
    /// Whether all frames of an animation are kept if the output is GIF or WebP; otherwise only the first frame is
    /// used.
    public var keepsAnimations = false
    /// The template for file names of the batch, without extension. `{index}`, `{name}` and `{stem}` (the name without
    /// the extension of a picture) are replaced.
    public var fileName = "{index}-{name}"
    /// True if the submitting program cannot see the output folder, so the workers create it.
    public var remoteOutput = false
    /// The maximum number of photos in an operation, 1 to 1,000.
    public var operationSize = 50
    /// The priority at the time of submission; in ``BatchFacts/options``, the current priority.
    public var priority = BatchPriority.normal
    /// The time without a heartbeat after which other workers take over a worker's operations, 6 seconds to 1 day.
    public var lease = Duration.seconds(15)
    /// The maximum number of fed operations that have not ended, at least 1. While this number is reached, feeding
    /// waits.
    public var window = 10_000
    /// The time for which Redis keeps the batch after it has finished; nil means forever.
    public var retain: Duration? = .seconds(24 * 3600)
    /// Whether the batch is cancelled if a batch that it waits for was cancelled or had failed photos.
    public var afterSuccess = false
    /// The folder for downloaded bytes: an absolute path on the workers' machines. If empty, the bytes are not kept.
    public var originals = ""
    /// The URL to which a worker posts the completion of the batch, if the webhook hosts of the worker allow it; empty
    /// for no webhook.
    public var webhook = ""
    /// Whether the query and fragment of URLs are left out of the manifest. User and password are always left out.
    public var redactURLs = false
    /// Whether the written files get the time of their photos: the `Last-Modified` of the server, or the time of the
    /// local file. If the server sends no time, the files have the time at which they were written.
    public var keepsTimes = false
    /// The absolute path of the folder that contains the local photos; empty if the photos are not local files.
    package var photosFolder = ""

    /// The default options.
    package init() {}
}

extension BatchOptions {
    /// The options as fields and values of the batch's hash.
    package var fields: [(field: String, value: String)] {
        [
            ("name", name), ("filters", filters.text), ("renditions", renditions.text),
            ("encoding", encoding.description), ("accepts.damage", damagedPhotos.stored),
            ("keeps.animations", keepsAnimations ? "1" : ""), ("output", output), ("file.name", fileName),
            ("remote.output", remoteOutput ? "1" : "0"), ("size", String(operationSize)),
            ("priority", priority.rawValue), ("lease", String(lease.wholeMilliseconds)),
            ("window", String(min(window, StoredBounds.photos.upperBound))),
            ("retain", retain.map { String($0.wholeMilliseconds) } ?? "-1"),
            ("after.success", afterSuccess ? "1" : ""), ("originals", originals), ("photos.folder", photosFolder),
            ("webhook", webhook),
            ("redact.urls", redactURLs ? "1" : ""), ("keeps.times", keepsTimes ? "1" : ""),
        ]
    }

    /// Reads the options from a batch's hash. An option that is missing or out of bounds gets its default value.
    package init(fields: [String: String]) {
        var stored = StoredFields(fields)
        self.init(&stored)
    }

    /// Reads the options from a batch's hash; `fields` records damaged values.
    init(_ fields: inout StoredFields) {
        self.init()
        name = fields.text("name") ?? name
        filters = fields.text("filters").map { [PhotoFilter](stored: $0) } ?? filters
        readRenditions(&fields)
        output = fields.text("output") ?? output
        damagedPhotos = fields.damagedPhotos("accepts.damage")
        keepsAnimations = fields.isSet("keeps.animations")
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
        keepsTimes = fields.isSet("keeps.times")
    }

    /// The fields of older versions that ``encoding`` has replaced.
    private static let earlierFields = ["format", "quality", "strip"]

    /// Reads the renditions and the encoding. An invalid text counts as damage: if the text were ignored, the batch
    /// would make other files.
    private mutating func readRenditions(_ fields: inout StoredFields) {
        if Self.earlierFields.contains(where: { fields.text($0) != nil }) {
            fields.noteContradiction("an older version of Darkroom has submitted it; submit it again")
        }
        do throws(ChainSyntaxError) {
            if let text = fields.text("renditions"), !text.isEmpty {
                renditions = try [PhotoRendition](parsing: text)
            }
            encoding = try PhotoEncoding(parsing: fields.text("encoding") ?? "")
        } catch {
            fields.noteContradiction("its recipe: \(error)")
        }
    }

    /// A phrase for each option that is out of bounds, for example `quality is "200"`. A batch with such an option
    /// cannot be submitted.
    package var outOfBounds: [String] {
        var stored = StoredFields(Dictionary(uniqueKeysWithValues: fields))
        _ = BatchOptions(&stored)
        return stored.damage
    }

    /// The bounds of ``window``. With a window of 0, feeding would wait forever.
    package static let windows = 1...StoredBounds.photos.upperBound

    /// The bounds of ``operationSize``.
    package static let operationSizes = 1...1000

    /// The maximum number of batches that must finish before a submitted batch starts.
    package static let mostBatchesBefore = 100

    /// The bounds of a lease in milliseconds. A shorter lease would expire after two lost heartbeats. A longer lease
    /// would delay the photos of a lost worker by more than a day.
    package static let leaseMilliseconds = 6000...86_400_000
}
