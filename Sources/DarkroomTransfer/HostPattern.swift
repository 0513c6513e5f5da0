/// Hosts by name: `images.example.org`, or `*.example.org` for all below `example.org`, but not that itself.
///
/// Compared as libcurl would take them: without regard to capitals and a dot at the end, an address in any spelling.
package struct HostPattern: Sendable, Hashable, CustomStringConvertible {
    private let host: String
    private let isSuffix: Bool

    /// Reads a host or `*.` and a domain; an IPv6 address may stand in brackets.
    package init(parsing text: String) throws(InvalidHostPattern) {
        isSuffix = text.hasPrefix("*.")
        let name = isSuffix ? String(text.dropFirst(2)) : text
        let bracketed = IPAddress(name) == nil || !name.contains(":") ? name : "[\(name)]"
        guard !name.contains("*"), let host = HostName.canonical(bracketed) else {
            throw InvalidHostPattern(text: text)
        }
        self.host = host
        guard !isSuffix || !host.hasPrefix("[") && IPAddress(host) == nil else { throw InvalidHostPattern(text: text) }
    }

    /// Whether `host`, in its canonical form, is meant.
    func matches(_ host: String) -> Bool { isSuffix ? host.hasSuffix("." + self.host) : host == self.host }

    /// As it is read.
    package var description: String { isSuffix ? "*.\(host)" : host }
}

/// A text that names no hosts.
package struct InvalidHostPattern: Error, CustomStringConvertible {
    /// What was given.
    package let text: String

    /// How it is written.
    package var problem: String {
        "write a host without scheme, port and path, as images.example.org, or *.example.org for all below"
    }

    /// One line of both.
    package var description: String { "host \"\(text)\": \(problem)" }
}

/// Which hosts may be asked, by name. Where they are is for `AddressPolicy` to judge.
struct HostRules: Sendable {
    /// None is all.
    let allowed: [HostPattern]
    /// Wins over `allowed`.
    let denied: [HostPattern]

    /// Refuses a host, in its canonical form, that must not be asked.
    func check(_ host: String) throws(Refusal) {
        if denied.contains(where: { $0.matches(host) }) {
            throw Refusal(code: .addressDenied, detail: "\(host) is a host that is not fetched from (--deny-hosts)")
        }
        if !allowed.isEmpty, !allowed.contains(where: { $0.matches(host) }) {
            throw Refusal(
                code: .addressDenied, detail: "\(host) is not among the hosts that are fetched from (--allow-hosts)")
        }
    }
}
