internal import CCurl

/// The server that an `http:` or `https:` URL names, as libcurl would take it: so what is checked is where it goes.
package struct WebAddress: Sendable, Hashable {
    /// `http` or `https`.
    package let scheme: String
    /// The host in small letters, without a dot at its end. Odd spellings of an IPv4 address (`0x7f.1`) are written out;
    /// an IPv6 address has its brackets.
    package let host: String
    /// The port, that of the scheme where the URL names none.
    package let port: Int

    /// Reads a URL; nil when it is none with a host, or of another scheme.
    package init?(url: String) {
        guard let parsed = curl_url() else { return nil }
        defer { curl_url_cleanup(parsed) }
        let flags = CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE
        guard curl_url_set(parsed, CURLUPART_URL, url, UInt32(flags)) == CURLUE_OK,
            let scheme = Self.part(CURLUPART_SCHEME, of: parsed), scheme == "http" || scheme == "https",
            let host = Self.part(CURLUPART_HOST, of: parsed)?.lowercased(),
            let port = Self.part(CURLUPART_PORT, of: parsed).flatMap({ Int($0) })
        else { return nil }
        self.scheme = scheme
        self.host = host.hasSuffix(".") ? String(host.dropLast()) : host
        self.port = port
        guard !self.host.isEmpty else { return nil }
    }

    private static func part(_ part: CURLUPart, of url: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, part, &text, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
