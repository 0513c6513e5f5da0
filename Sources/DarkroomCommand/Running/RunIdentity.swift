import Darkroom

/// The list and options that identify the job of a run. A later run continues an earlier run only if the identities of
/// both runs are equal.
struct RunIdentity: Codable, Equatable {
    /// The list: an absolute path, a URL, or `standard input`.
    let list: String
    /// `private`, or the address of the shared Redis with the namespace.
    let redis: String
    let output: String
    let filters: [String]
    let format: String
    let quality: Int
    let strip: Bool
    let fileName: String
    /// Nil if no originals are kept, or if a version without this option wrote the file.
    let originals: String?
    /// Nil if the manifest contains whole URLs, or if a version without this option wrote the file.
    let redactURLs: Bool?

    init(list: String, redis: String, options: BatchOptions) {
        self.list = list
        self.redis = redis
        output = options.output
        filters = options.filters.map(\.description)
        format = options.format.name
        quality = options.quality
        strip = options.strip
        fileName = options.fileName
        originals = options.originals.isEmpty ? nil : options.originals
        redactURLs = options.redactURLs ? true : nil
    }

    /// A phrase for each value that differs from the earlier run.
    func differences(from before: RunIdentity) -> [String] {
        func text(_ strip: Bool) -> String { strip ? "stripped" : "kept" }
        func text(redacted: Bool?) -> String { redacted == true ? "redacted" : "whole" }
        let pairs = [
            ("the list", before.list, list), ("the Redis", before.redis, redis),
            ("the output folder", before.output, output),
            ("the filters", before.filters.joined(separator: " "), filters.joined(separator: " ")),
            ("the format", before.format, format), ("the quality", "\(before.quality)", "\(quality)"),
            ("metadata", text(before.strip), text(strip)), ("the file names", before.fileName, fileName),
            ("the originals", before.originals ?? "not kept", originals ?? "not kept"),
            ("the URLs in the manifest", text(redacted: before.redactURLs), text(redacted: redactURLs)),
        ]
        return pairs.filter { $0.1 != $0.2 }.map { "\($0.0) then \($0.1), now \($0.2)" }
    }
}

/// The state that a run writes to its folder before it submits its batch.
struct RunState: Codable {
    let batch: BatchID
    let identity: RunIdentity
}
