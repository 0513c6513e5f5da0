/// The details of a failed photo, as stored in Redis. The manifest contains the same texts in full length.
public struct PhotoFailure: Sendable, Equatable {
    /// The position in the photo list, counted from 0.
    public let index: Int
    /// The name in the list, truncated to 90 bytes.
    public let name: String
    /// The URL without user, password and query, truncated to 190 bytes.
    public let url: String
    /// The failure reason.
    public let reason: FailureReason
    /// The details, truncated to 130 bytes; nil if there are no details beyond the reason.
    public let detail: String?
    /// The number of download attempts; nil if the number is unknown.
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

    /// Reads the JSON that a worker has stored. Returns nil if the JSON is damaged.
    package init?(index: Int, json: String) {
        guard let stored = try? UntrustedJSON().decode(Stored.self, from: json.utf8) else { return nil }
        self.init(
            index: index, name: stored.name, url: stored.url,
            reason: stored.reason.flatMap(FailureReason.init(word:)) ?? .other, detail: stored.detail,
            attempts: stored.attempts)
    }
}
