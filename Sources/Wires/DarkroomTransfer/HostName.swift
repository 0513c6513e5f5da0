internal import CCurl
internal import CIDN
import DarkroomText

enum HostName {
    /// The canonical form of a host. A host name is in lower case without a final dot; an IPv4 address has four decimal
    /// parts (`0x7f.1` is `127.0.0.1`); an IPv6 address is in brackets and in its shortest form. Returns nil if the
    /// text is not a host.
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
        guard let bare = try? ascii(PercentEncoding.decoded(bare.utf8)), let parsed = try? ParsedURL("http://\(bare)/")
        else {
            return nil
        }
        return parsed[CURLUPART_HOST]?.lowercased()
    }

    /// A host in ASCII: `münchen.de` becomes `xn--mnchen-3ya.de`, as in browsers (UTS #46, nontransitional). ASCII
    /// hosts are returned unchanged. Throws for characters that IDNA 2008 does not allow, such as emoji.
    ///
    /// libcurl does not do the conversion, because it can convert a host only in a UTF-8 locale.
    static func ascii(_ host: [UInt8]) throws(TransferError) -> String {
        var text = String(decoding: host, as: UTF8.self)
        if host.contains(where: { $0 > 0x7f }) {
            guard let host = String(validating: host, as: UTF8.self) else {
                throw TransferError(code: .notAURL, detail: "not a URL: its host is not UTF-8")
            }
            var converted: UnsafeMutablePointer<CChar>?
            let flags = Int32(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)
            let status = idn2_to_ascii_8z(host, &converted, flags)
            defer { idn2_free(converted) }
            guard status == 0, let converted else {
                let reason = idn2_strerror(status).map { String(cString: $0) } ?? ""
                throw TransferError(code: .notAURL, detail: "not a URL: its host is not a name (\(reason))")
            }
            text = String(cString: converted)
        }
        guard !text.utf8.contains(where: { $0 <= 32 || $0 == 127 || "#/:<>?@[\\]^|%".utf8.contains($0) }) else {
            throw TransferError(code: .notAURL, detail: "not a URL: its host has a character that is not allowed")
        }
        return text
    }

    /// Whether the host is a name of lower-case ASCII letters, digits and hyphens. This excludes IPv4 addresses,
    /// because the last label of an address begins with a digit.
    private static func isPlain(_ host: String) -> Bool {
        let last = host.utf8.split(separator: UInt8(ascii: ".")).last?.first ?? 0
        return (97...122).contains(last)
            && host.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 || $0 == 46 }
    }
}
