import DarkroomText

/// Checks of single options, for the command line and for programs that use the library.
extension BatchOptions {
    private static let longestNameBytes = 200

    /// The reason why a batch cannot have this name; nil if it can. Users must be able to type a name and to see it in
    /// tables.
    package static func problem(ofName name: String) -> String? {
        if name.utf8.count > longestNameBytes { return "\(name.utf8.count) bytes; at most \(longestNameBytes)" }
        return name == PrintableText.escaped(name) ? nil : "it has invisible characters; leave them out"
    }

    /// The reason why a URL cannot be a webhook; nil if it can. The reason contains no user, password or query of the
    /// URL.
    package static func problem(ofWebhook url: String) -> String? {
        let example = "write it like https://photos.example/finished"
        if let problem = PhotoURL.check(url) { return "\(problem.detail); \(example)" }
        if let scheme = URLScheme.of(url), !scheme.isOfWeb {
            return "a \(scheme.name): URL cannot receive a webhook; \(example)"
        }
        // Compare bytes, because "@" followed by a combining character is a different Character.
        let authority = url.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2).prefix { !"/?#\\".utf8.contains($0) }
        guard authority.contains(UInt8(ascii: "@")) else { return nil }
        return
            "the URL has a user or password, which everybody who sees the batch could read; leave it out: workers can "
            + "sign webhooks with a secret instead"
    }
}
