import DarkroomText

/// A rule `HOST:PORT:HOST:PORT`, as in curl's `--connect-to`: requests to the first host and port are sent to the
/// second host and port. An empty part means "any" in the first pair and "unchanged" in the second pair.
package struct ConnectRule: Sendable, Equatable {
    private let from: (host: String, port: Int?)
    private let to: (host: String, port: Int?)

    package static func == (first: ConnectRule, second: ConnectRule) -> Bool {
        first.from == second.from && first.to == second.to
    }

    /// Parses a rule. Returns nil if the text does not have this form. IPv6 addresses must be in brackets.
    package init?(_ text: String) {
        var depth = 0
        var parts = [""]
        for character in text {
            if character == "[" { depth += 1 } else if character == "]" { depth -= 1 }
            if character == ":", depth == 0 { parts.append("") } else { parts[parts.count - 1].append(character) }
        }
        guard parts.count == 4, let from = Self.pair(parts[0], parts[1]), let to = Self.pair(parts[2], parts[3]) else {
            return nil
        }
        (self.from, self.to) = (from, to)
    }

    private static func pair(_ host: String, _ port: String) -> (String, Int?)? {
        let host = host.isEmpty ? host : HostName.canonical(host) ?? host
        if port.isEmpty { return (host, nil) }
        guard let port = UInt16(port), port > 0 else { return nil }
        return (host, Int(port))
    }

    /// The rule as text. Its hosts are in ASCII, because libcurl compares them in this form.
    var text: String {
        "\(from.host):\(from.port.map(String.init) ?? ""):\(to.host):\(to.port.map(String.init) ?? "")"
    }

    /// The host and port to which a connection to `host` and `port` is made; nil if the rule does not apply to them or
    /// changes nothing.
    func target(_ host: String, _ port: Int) -> (host: String, port: Int)? {
        guard from.host.isEmpty || from.host == host, from.port == nil || from.port == port,
            !to.host.isEmpty || to.port != nil
        else { return nil }
        return (to.host.isEmpty ? host : to.host, to.port ?? port)
    }
}
