/// The name servers of a configuration.
package enum NameServers {
    /// Whether a text is the address of a server, with an optional port: `192.0.2.53`, `192.0.2.53:53`, `2001:db8::53`,
    /// `[2001:db8::53]:53`.
    package static func isServer(_ text: String) -> Bool {
        if IPAddress(text[...]) != nil { return true }
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0 else {
            return text.hasPrefix("[") && text.hasSuffix("]") && IPAddress(text.dropFirst().dropLast()) != nil
        }
        let host = text[..<colon]
        return host.hasPrefix("[")
            ? host.hasSuffix("]") && IPAddress(host.dropFirst().dropLast()) != nil : IPAddress(host) != nil
    }
}
