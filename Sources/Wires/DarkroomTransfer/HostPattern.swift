/// A host name, such as `images.example.org`, or all subdomains of a domain: `*.example.org`, which excludes
/// `example.org` itself.
///
/// Hosts are compared in their canonical form: case and a final dot are ignored, and an address may have any spelling
/// that libcurl accepts.
package struct HostPattern: Sendable, Hashable, CustomStringConvertible {
    private let host: String
    private let isSuffix: Bool

    /// Parses a host, or `*.` followed by a domain. Brackets around an IPv6 address are optional.
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

    /// Whether the pattern matches `host`, which must be in its canonical form.
    func matches(_ host: String) -> Bool { isSuffix ? host.hasSuffix("." + self.host) : host == self.host }

    package var description: String { isSuffix ? "*.\(host)" : host }
}

package struct InvalidHostPattern: Error, CustomStringConvertible {
    package let text: String

    package var problem: String {
        "write a host without scheme, port and path, like images.example.org, or *.example.org for all subdomains"
    }

    package var description: String { "host \"\(text)\": \(problem)" }
}

/// Decides by the names of hosts to which hosts requests are allowed. `AddressPolicy` checks the addresses of the
/// hosts.
struct HostRules: Sendable {
    /// The allowed hosts; empty allows all hosts.
    let allowed: [HostPattern]
    /// The denied hosts. They are denied even if they match `allowed`.
    let denied: [HostPattern]
    /// With a proxy: the policy for addresses in URLs, and for `localhost`, because the proxy connects to the hosts.
    /// Without a proxy: nil, because each address is checked when it is used.
    var literals: AddressPolicy?

    /// Throws if the rules deny requests to `host`, which must be in its canonical form.
    func check(_ host: String) throws(TransferError) {
        if denied.contains(where: { $0.matches(host) }) {
            throw TransferError(code: .addressDenied, detail: "requests to \(host) are denied")
        }
        if !allowed.isEmpty, !allowed.contains(where: { $0.matches(host) }) {
            throw TransferError(code: .addressDenied, detail: "\(host) is not among the allowed hosts")
        }
        guard let literals else { return }
        let isLocal = host == "localhost" || host.hasSuffix(".localhost")
        let literal = isLocal ? "127.0.0.1" : host.hasPrefix("[") ? host.dropFirst().dropLast() : host[...]
        if let address = IPAddress(literal), !literals.allows(address) { throw .denied(host) }
        // SOCKS has one byte for the length of a host name.
        guard host.utf8.count <= 255 else {
            throw TransferError(code: .notAURL, detail: "not a URL: its host has more than 255 characters")
        }
    }
}
