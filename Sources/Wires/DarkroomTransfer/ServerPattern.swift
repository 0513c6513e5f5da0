/// Hosts, optionally with a port: `hooks.example.org`, `*.example.org:8443`, `[::1]:8080`.
///
/// The host is a ``HostPattern``. A pattern without a port matches port 443 for `https:` and port 80 for `http:`. An
/// IPv6 address before a port must be in brackets.
package struct ServerPattern: Sendable, Hashable {
    let hosts: HostPattern
    /// The port; nil means the default port of the scheme.
    let port: UInt16?

    package init(parsing text: String) throws(InvalidHostPattern) {
        let (host, digits) = Self.split(text[...])
        hosts = try HostPattern(parsing: String(host))
        port = digits.flatMap(Self.port)
        guard digits == nil || port != nil else { throw InvalidHostPattern(text: text) }
    }

    package func matches(_ origin: Origin) -> Bool {
        hosts.matches(origin.host) && origin.port == port.map(Int.init) ?? origin.standardPort
    }

    /// Splits the text at the colon before the port.
    /// - Returns: the text before the colon, and the text after the colon as the port. The port is nil without a colon.
    static func split(_ text: Substring) -> (host: Substring, port: Substring?) {
        // In an IPv6 address without brackets, no colon separates a port.
        guard IPAddress(text) == nil else { return (text, nil) }
        let bracket = text.hasPrefix("[") ? text.lastIndex(of: "]") : nil
        guard let colon = text[(bracket ?? text.startIndex)...].firstIndex(of: ":") else { return (text, nil) }
        return (text[..<colon], text[text.index(after: colon)...])
    }

    /// Parses a port. Returns nil if the text is not a number from 1 to 65535.
    static func port(_ digits: Substring) -> UInt16? {
        guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = UInt16(digits), number > 0 else {
            return nil
        }
        return number
    }
}
