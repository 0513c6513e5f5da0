internal import CCurl

enum HostName {
    /// The canonical form of a host: lower case without a final dot; an IPv4 address in four decimal parts (`0x7f.1` is
    /// `127.0.0.1`); an IPv6 address in brackets and in its shortest form. Returns nil if the text is not a host.
    static func canonical(_ host: String) -> String? {
        if host.hasPrefix("["), host.hasSuffix("]") {
            return IPAddress(host.dropFirst().dropLast()).map { $0.bitCount == 32 ? "[::ffff:\($0)]" : "[\($0)]" }
        }
        let bare = host.hasSuffix(".") ? String(host.dropLast()) : host
        guard !bare.isEmpty, !bare.utf8.contains(where: { ":/?#@[]\\".utf8.contains($0) || $0 <= 32 || $0 == 127 })
        else {
            return nil
        }
        if isPlain(bare) { return bare }
        guard let parsed = try? ParsedURL("http://\(bare)/") else { return nil }
        // If libcurl does not support IDN, it cannot look up a non-ASCII name in either form.
        return (parsed[CURLUPART_HOST, Int32(CURLU_PUNYCODE)] ?? parsed[CURLUPART_HOST])?.lowercased()
    }

    /// Whether the host is a name of lower-case ASCII letters, digits and hyphens. This excludes IPv4 addresses,
    /// because the last label of an address begins with a digit.
    private static func isPlain(_ host: String) -> Bool {
        let last = host.utf8.split(separator: UInt8(ascii: ".")).last?.first ?? 0
        return (97...122).contains(last)
            && host.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 || $0 == 46 }
    }
}
