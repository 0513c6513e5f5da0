import DarkroomText

/// The scheme, host and port of a URL (RFC 6454), as libcurl parses them. Secrets for one origin must not be sent to
/// another origin.
package struct Origin: Sendable, Hashable {
    /// `http` or `https`.
    package let scheme: String
    /// The host in its canonical form, see ``HostName``.
    package let host: String
    /// The port of the URL; if the URL has no port, the default port of the scheme.
    package let port: Int

    init(scheme: String, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// Parses an `http:` or `https:` URL. Returns nil for other schemes and for texts without a host.
    package init?(url: String) {
        // A text that libcurl cannot parse is not an `http:` or `https:` URL.
        guard let parsed = try? ParsedURL(BrowserURL.encoded(url)), parsed.scheme?.isOfWeb == true,
            let origin = parsed.origin
        else { return nil }
        self = origin
    }

    /// The default port of the scheme; nil if the scheme is not a web scheme.
    var standardPort: Int? { URLScheme.named(scheme)?.webPort }

    /// Whether requests to the origin are encrypted.
    var isEncrypted: Bool { URLScheme.named(scheme)?.isEncrypted == true }
}
