import Darkroom
import DarkroomCoordinator
import DarkroomLists

/// The list and options that identify the job of a run. A later run continues an earlier run only if the identities of
/// both runs are equal.
struct RunIdentity: Codable, Equatable {
    /// The list: an absolute path, a URL, or `standard input`.
    let list: String
    /// `private`, or the address of the shared Redis with the namespace.
    let redis: String
    let output: String
    let filters: [String]
    /// Nil without renditions.
    let renditions: [String]?
    /// Nil if all settings of the encoding have their defaults.
    let encoding: String?
    /// True if damaged photos are accepted, otherwise nil.
    let acceptsDamage: Bool?
    /// `fail` if photos with any defect fail; nil for other levels, or if a version without levels wrote the file. By
    /// default, photos with any defect failed in such a version. If a run has the default level, it can continue a run
    /// of such a version.
    let onDamaged: String?
    /// True if animations are kept, otherwise nil.
    let keepsAnimations: Bool?
    let fileName: String
    /// Nil if no originals are kept, or if a version without this option wrote the file.
    let originals: String?
    /// Nil if the manifest contains whole URLs, or if a version without this option wrote the file.
    let redactURLs: Bool?
    /// True if the files get the times of the photos, otherwise nil.
    let keepsTimes: Bool?
    /// The sample of the list; nil if the run takes all photos or the first photos, or if a version without this option
    /// wrote the file. `--limit` is not part of the identity: a run with a larger limit continues an earlier run, as if
    /// the list had grown.
    let sample: PhotoSelection.Sample?

    init(list: String, _ selection: PhotoSelection, redis: String, options: BatchOptions) {
        self.list = list
        sample = selection.sample
        self.redis = redis
        output = options.output
        filters = options.filters.map(\.description)
        renditions = options.renditions.isEmpty ? nil : options.renditions.map(\.description)
        encoding = options.encoding.description.isEmpty ? nil : options.encoding.description
        acceptsDamage = options.damagedPhotos == .accept ? true : nil
        onDamaged = options.damagedPhotos == .fail ? options.damagedPhotos.rawValue : nil
        keepsAnimations = options.keepsAnimations ? true : nil
        fileName = options.fileName
        originals = options.originals.isEmpty ? nil : options.originals
        redactURLs = options.redactURLs ? true : nil
        keepsTimes = options.keepsTimes ? true : nil
    }

    /// A phrase for each value that differs from the earlier run.
    func differences(from before: RunIdentity) -> [String] {
        func text(redacted: Bool?) -> String { redacted == true ? "redacted" : "whole" }
        func text(_ renditions: [String]?) -> String { renditions?.joined(separator: ", ") ?? "none" }
        func text(filters: [String]) -> String { filters.isEmpty ? "none" : filters.joined(separator: " ") }
        func damage(_ run: RunIdentity) -> String { run.acceptsDamage == true ? "accept" : run.onDamaged ?? "tolerate" }
        func text(kept: Bool?) -> String { kept == true ? "kept" : "not kept" }
        let pairs = [
            ("the list", before.list, list),
            ("the sample", before.sample?.description ?? "none", sample?.description ?? "none"),
            ("the Redis", before.redis, redis),
            ("the output folder", before.output, output),
            ("the filters", text(filters: before.filters), text(filters: filters)),
            ("the renditions", text(before.renditions), text(renditions)),
            ("the encoding", before.encoding ?? "the default", encoding ?? "the default"),
            ("--on-damaged", damage(before), damage(self)),
            ("animations", text(kept: before.keepsAnimations), text(kept: keepsAnimations)),
            ("the file names", before.fileName, fileName),
            ("the originals", before.originals ?? "not kept", originals ?? "not kept"),
            ("the URLs in the manifest", text(redacted: before.redactURLs), text(redacted: redactURLs)),
            ("the times of the photos", text(kept: before.keepsTimes), text(kept: keepsTimes)),
        ]
        return pairs.filter { $0.1 != $0.2 }.map { "\($0.0) then \($0.1), now \($0.2)" }
    }
}

/// The state that a run writes to its folder before it submits its batch.
struct RunState: Codable {
    let batch: BatchID
    let identity: RunIdentity
    /// The conditions under which photos of the batch may have failed; nil if a version without them wrote the file.
    let conditions: [RunConditions]?

    /// The options that may mend failures of the earlier runs.
    func mendings(under now: RunConditions) -> [RunConditions.Mending] { conditions?.mendings(under: now) ?? [] }

    /// Throws if the job of this run differs from another job for the same output folder.
    func requireSame(_ other: RunIdentity) throws(CoordinatorError) {
        let differences = other.differences(from: identity)
        guard differences.isEmpty else {
            throw CoordinatorError(
                .stateDiffers,
                "output folder \(other.output): the run of batch \(batch) there differs: "
                    + "\(differences.joined(separator: "; ")). Give the same list and options to continue, choose another folder, "
                    + "or give --again to develop all photos again over the same files: "
                    + OwnCommandLine.text(adding: "--again"))
        }
    }
}
