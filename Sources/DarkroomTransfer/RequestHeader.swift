/// A header line that is sent with requests: to all hosts, or only to those of a pattern.
public struct RequestHeader: Sendable, Hashable {
    /// A name, a colon and a value, as `Accept: image/*`.
    public let line: String
    /// The hosts that get it; nil is all that are asked.
    public let hosts: HostPattern?

    /// A header of this line. Nothing is checked: see ``init(parsing:)`` for what users write.
    public init(_ line: String, hosts: HostPattern? = nil) {
        self.line = line
        self.hosts = hosts
    }

    /// Reads `LINE` or `HOST=LINE`, where HOST is a ``HostPattern``. A header whose name says that it carries a secret must have a host.
    public init(parsing text: String) throws(InvalidRequestHeader) {
        var line = text[...]
        var hosts: HostPattern?
        // No name of a header has an equals sign (RFC 9110, 5.6.2), so one before it ends the host, which may have colons in brackets.
        let host = text.prefix { $0 != "=" }
        if host.endIndex < text.endIndex, !host.contains(":") || host.hasPrefix("[") && host.hasSuffix("]") {
            do throws(InvalidHostPattern) {
                hosts = try HostPattern(parsing: String(host))
            } catch {
                throw InvalidRequestHeader(name: String(host), problem: error.problem)
            }
            line = text[host.endIndex...].dropFirst()
        }
        let name = line.prefix { $0 != ":" }
        // A scheme, or a port of a host, in front of HOST=LINE would make a header of it for everybody.
        let port = host.drop { $0 != ":" }.dropFirst()
        guard hosts != nil || host.endIndex == text.endIndex || !(port.hasPrefix("//") || port.allSatisfy(\.isNumber))
        else {
            throw InvalidRequestHeader(
                name: String(host), problem: "write HOST=LINE with a host without scheme and port, or *.example.org")
        }
        guard name.endIndex < line.endIndex, !name.isEmpty, name.utf8.allSatisfy({ (33...126).contains($0) }),
            !line.utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 })
        else {
            throw InvalidRequestHeader(
                name: String(name), problem: "write a name, a colon and a value, as \"Accept: image/*\"")
        }
        guard hosts != nil || !Self.isSecret(name) else {
            throw InvalidRequestHeader(
                name: String(name),
                problem: "its value may be a secret, and every host that a list names would get it; "
                    + "write HOST=LINE, as \"images.example.org=\(name): ...\", or *.example.org for all below")
        }
        self.init(String(line), hosts: hosts)
    }

    /// Whether a header of this name is made to carry a secret.
    private static func isSecret(_ name: Substring) -> Bool {
        let name = name.lowercased()
        return ["auth", "cookie", "token", "key", "secret", "session", "password", "credential", "signature", "jwt"]
            .contains { name.contains($0) }
    }

    /// Whether it may go to a host that the user did not name: it says what is liked, not who is asking.
    var isForEverybody: Bool {
        let name = line.prefix { $0 != ":" && $0 != ";" }.lowercased()
        return name == "accept" || name.hasPrefix("accept-") || ["user-agent", "cache-control", "dnt"].contains(name)
    }
}

/// A text that is no header to be sent; the value, which may be a secret, is left out.
public struct InvalidRequestHeader: Error, CustomStringConvertible {
    /// The header's name, or the host.
    public let name: String
    /// How it is written.
    public let problem: String

    /// One line of both.
    public var description: String { "header \"\(name)\": \(problem)" }
}
