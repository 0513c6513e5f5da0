/// What Redis keeps of a failed photo. The manifest beside the photos has the same in full length.
public struct PhotoFailure: Sendable, Equatable {
    /// The position in the photo list, from 0.
    public let index: Int
    /// The name as the list has it, cut at 90 bytes.
    public let name: String
    /// The URL without user, password and query, cut at 190 bytes.
    public let url: String
    /// Why the photo failed.
    public let reason: FailureReason
    /// What exactly was found, cut at 130 bytes; nil if the reason says it all.
    public let detail: String?
    /// How often the download was attempted; nil if that is not known.
    public let attempts: Int?

    package init(
        index: Int, name: String, url: String, reason: FailureReason, detail: String? = nil, attempts: Int? = nil
    ) {
        self.index = index
        self.name = name
        self.url = url
        self.reason = reason
        self.detail = detail
        self.attempts = attempts
    }

    private struct Stored: Decodable {
        let name: String
        let url: String
        let reason: String?
        let detail: String?
        let attempts: Int?
    }

    /// Reads what a worker has stored; nil if it is damaged.
    package init?(index: Int, json: String) {
        guard let stored = try? UntrustedJSON().decode(Stored.self, from: json.utf8) else { return nil }
        self.init(
            index: index, name: stored.name, url: stored.url,
            reason: stored.reason.flatMap(FailureReason.init(word:)) ?? .other, detail: stored.detail,
            attempts: stored.attempts)
    }
}
