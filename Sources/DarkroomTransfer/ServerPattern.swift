/// Hosts with a port: `hooks.example.org`, `*.example.org:8443`, `[::1]:8080`.
///
/// The host is a ``HostPattern``. Without a port, the ports 443 of `https:` and 80 of `http:` are meant. An IPv6 address that is
/// followed by a port stands in brackets.
package struct ServerPattern: Sendable, Hashable {
    /// The hosts.
    let hosts: HostPattern
    /// The port; nil is the port of the scheme.
    let port: UInt16?

    /// Reads HOST or HOST:PORT.
    package init(parsing text: String) throws(InvalidHostPattern) {
        let (host, digits) = Self.split(text[...])
        hosts = try HostPattern(parsing: String(host))
        port = digits.flatMap(Self.port)
        guard digits == nil || port != nil else { throw InvalidHostPattern(text: text) }
    }

    /// Whether the pattern means this origin.
    package func matches(_ origin: Origin) -> Bool {
        hosts.matches(origin.host) && origin.port == port.map(Int.init) ?? origin.standardPort
    }

    /// Takes the text apart at the colon before the port.
    /// - Returns: the text before the colon, and the text behind it; nil without a port.
    static func split(_ text: Substring) -> (host: Substring, port: Substring?) {
        // The colons of an IPv6 address without brackets are all its own.
        guard IPAddress(text) == nil else { return (text, nil) }
        let bracket = text.hasPrefix("[") ? text.lastIndex(of: "]") : nil
        guard let colon = text[(bracket ?? text.startIndex)...].firstIndex(of: ":") else { return (text, nil) }
        return (text[..<colon], text[text.index(after: colon)...])
    }

    /// Reads a port; nil if the text is no number from 1 to 65535.
    static func port(_ digits: Substring) -> UInt16? {
        guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = UInt16(digits), number > 0 else {
            return nil
        }
        return number
    }
}
