import DarkroomTransfer

/// The hosts that a worker delivers webhooks to.
public struct WebhookHosts: Sendable, Equatable {
    private struct Pattern: Sendable, Equatable {
        /// As ``WebAddress`` has it.
        let host: String
        /// nil: that of the URL's scheme.
        let port: Int?
        /// Whether any name below the host is meant, and not the host.
        let isParent: Bool
    }

    private let patterns: [Pattern]

    /// No host at all.
    public init() { patterns = [] }

    /// Hosts as `HOST` (the ports 80 of `http:` and 443 of `https:`), `HOST:PORT`, or `*.HOST` for all names below it, with or
    /// without a port. They may be private ones.
    public init(parsing texts: [String]) throws(InvalidWebhookHost) {
        var patterns: [Pattern] = []
        for text in texts { patterns.append(try Self.pattern(text)) }
        self.patterns = patterns
    }

    /// Whether there is none.
    public var isEmpty: Bool { patterns.isEmpty }

    /// Whether a webhook may be delivered to `url`: an `http:` or `https:` URL of a listed host.
    public func allow(_ url: String) -> Bool {
        guard let address = WebAddress(url: url) else { return false }
        return patterns.contains { pattern in
            let isHost = pattern.isParent ? address.host.hasSuffix("." + pattern.host) : address.host == pattern.host
            return isHost && address.port == pattern.port ?? (address.scheme == "http" ? 80 : 443)
        }
    }

    private static func pattern(_ text: String) throws(InvalidWebhookHost) -> Pattern {
        let isParent = text.hasPrefix("*.")
        let host = isParent ? String(text.dropFirst(2)) : text
        // Read as the URLs are, so that one spelling of a host is as good as another.
        let isPlain = !host.isEmpty && host.allSatisfy { !"/?#@*\\".contains($0) && !$0.isWhitespace }
        guard isPlain, let address = WebAddress(url: "http://\(host)/") else { throw InvalidWebhookHost(text: text) }
        let hasPort = host.last != "]" && host.contains(":")
        guard !host.hasSuffix(":"), !isParent || address.host.contains(where: \.isLetter) else {
            throw InvalidWebhookHost(text: text)
        }
        return Pattern(host: address.host, port: hasPort ? address.port : nil, isParent: isParent)
    }
}

/// A text that names no host for webhooks.
public struct InvalidWebhookHost: Error, Equatable, CustomStringConvertible {
    /// What was given.
    public let text: String

    /// What is wrong, and what to write.
    public var description: String {
        "\"\(text)\" is no host; write HOST, HOST:PORT or *.HOST, as hooks.example.org:8443"
    }
}
