import DarkroomText

/// A header line that is sent with requests to all hosts, or only to the hosts of a pattern.
///
/// A header with a pattern may contain a secret, and the author of a photo list chooses the schemes and ports of the
/// URLs. Therefore such a header is sent only over https and only to the default port, unless its name shows that it
/// contains no secret (`Accept`, `User-Agent`...). `http://` before the host also allows http. A port after the host
/// allows this port instead of the default port.
package struct RequestHeader: Sendable, Hashable {
    /// A name, a colon and a value, for example `Accept: image/*`.
    package let line: String
    /// The hosts to which the header is sent; nil means all hosts.
    package let hosts: HostPattern?
    /// The port of ``hosts`` to which the header is sent; nil means 443 for https and 80 for http.
    package let port: UInt16?
    /// Whether the header is also sent over unencrypted http. Loopback addresses, private addresses and `localhost`
    /// receive the header over http even if this is false.
    package let isSentInPlainText: Bool

    /// Creates a header without checking the line. Text from users must be parsed with ``init(parsing:)``.
    package init(_ line: String, hosts: HostPattern? = nil, port: UInt16? = nil, isSentInPlainText: Bool = false) {
        self.line = line
        self.hosts = hosts
        self.port = port
        self.isSentInPlainText = isSentInPlainText
    }

    /// Parses `LINE` or `[SCHEME://]HOST[:PORT]=LINE`, where HOST is a ``HostPattern`` and SCHEME is https or http. If
    /// the name of the header indicates a secret, a host is required.
    package init(parsing text: String) throws(InvalidRequestHeader) {
        // A header name does not contain an equals sign (RFC 9110, 5.6.2), so the first equals sign ends the host.
        let target = text.prefix { $0 != "=" }
        guard target.endIndex < text.endIndex, let parsed = try HeaderTarget(parsing: target) else {
            try self.init(line: text[...])
            return
        }
        try self.init(
            line: text[target.endIndex...].dropFirst(), hosts: parsed.server.hosts, port: parsed.server.port,
            isSentInPlainText: parsed.isPlainText)
    }

    private init(
        line: Substring, hosts: HostPattern? = nil, port: UInt16? = nil, isSentInPlainText: Bool = false
    ) throws(InvalidRequestHeader) {
        let name = line.prefix { $0 != ":" }
        guard name.endIndex < line.endIndex, !name.isEmpty, name.utf8.allSatisfy({ (33...126).contains($0) }),
            !line.utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 })
        else {
            throw InvalidRequestHeader(
                name: String(name), problem: "write a name, a colon and a value, like \"Accept: image/*\"")
        }
        guard hosts != nil || !Self.isSecret(name) else {
            throw InvalidRequestHeader(
                name: String(name),
                problem: "its value may be a secret, and every host that a list names would get it; "
                    + "write HOST=LINE, like \"images.example.org=\(name): ...\", or *.example.org for all subdomains")
        }
        self.init(String(line), hosts: hosts, port: port, isSentInPlainText: isSentInPlainText)
    }

    /// Whether the header is sent to `origin`. The caller must have checked the host of `origin` against ``hosts``.
    func goes(to origin: Origin) -> Bool {
        guard origin.port == port.map(Int.init) ?? origin.standardPort || port == nil && isForEverybody else {
            return false
        }
        return origin.isEncrypted || isSentInPlainText || isForEverybody || origin.isNearby
    }

    private static func isSecret(_ name: Substring) -> Bool {
        let name = name.lowercased()
        return ["auth", "cookie", "token", "key", "secret", "session", "password", "credential", "signature", "jwt"]
            .contains { name.contains($0) }
    }

    /// The value of the header without surrounding white space.
    var value: String {
        let value = line.drop { $0 != ":" && $0 != ";" }.dropFirst().drop { $0 == " " || $0 == "\t" }
        return String(value.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }

    /// The name of the header in lower case.
    var name: String { line.prefix { $0 != ":" && $0 != ";" }.lowercased() }

    /// Whether the header may be sent to hosts that the user did not name. This is true for headers that describe the
    /// wanted content and do not identify the user.
    var isForEverybody: Bool {
        name == "accept" || name.hasPrefix("accept-") || ["user-agent", "cache-control", "dnt"].contains(name)
    }
}

/// Makes headers for one request of a transfer, for instance a signature that depends on the URL and on the time.
///
/// The engine calls this function before the first request of each attempt, and before each redirected request to the
/// scheme, host and port of the transfer's own URL. The engine does not call the function for requests to other
/// servers. The call comes on a network thread, so the function must not block. Returned headers with a host pattern
/// are sent only under the conditions of ``RequestHeader``. The header lines must not contain line ends.
/// - Parameter url: the URL of the request as it is sent, including user and password if the URL has them.
package typealias HeaderMaker = @Sendable (_ url: String) -> [RequestHeader]

/// The text before `=` in `HOST=LINE`: a server, optionally with a scheme.
private struct HeaderTarget {
    let server: ServerPattern
    let isPlainText: Bool

    /// Returns nil if the equals sign after `text` is part of a header line without hosts.
    init?(parsing text: Substring) throws(InvalidRequestHeader) {
        let web = URLScheme.web(text)
        let (scheme, rest) = (web?.scheme, web?.rest ?? text)
        isPlainText = scheme?.isEncrypted == false
        let (host, port) = ServerPattern.split(rest)
        if let port, ServerPattern.port(port) == nil {
            // A misspelled HOST=LINE must be an error. As a header line, it would be sent to all hosts.
            guard scheme == nil, !host.hasPrefix("["), !port.isEmpty, !port.hasPrefix("//"),
                !port.allSatisfy(\.isNumber)
            else { throw Self.invalid(text) }
            return nil
        }
        do throws(InvalidHostPattern) {
            server = try ServerPattern(parsing: String(rest))
        } catch {
            throw Self.invalid(text)
        }
    }

    private static func invalid(_ text: Substring) -> InvalidRequestHeader {
        InvalidRequestHeader(
            name: String(text),
            problem:
                "write HOST=LINE with a host like images.example.org, or *.example.org for all subdomains; "
                + "HOST:PORT for another port, http://HOST for http, too")
    }
}

extension Origin {
    /// Whether the host of the URL is `localhost`, or a literal address on this machine or in a private network. Other
    /// names may resolve to any address.
    fileprivate var isNearby: Bool {
        if host == "localhost" { return true }
        let literal = host.hasPrefix("[") ? host.dropFirst().dropLast() : host[...]
        return IPAddress(literal).map { address in Self.nearby.contains { $0.contains(address) } } ?? false
    }

    private static let nearby = [
        "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "::1/128", "fc00::/7",
        "fe80::/10",
    ].map(NetworkRange.init(constant:))
}

/// The error for an invalid header. The error omits the value of the header, which may be a secret.
package struct InvalidRequestHeader: Error, CustomStringConvertible {
    /// The name of the header, or the host.
    package let name: String
    package let problem: String

    package var description: String { "header \"\(name)\": \(problem)" }
}
