internal import CCurl
import DarkroomText

/// Writes `http:` and `https:` URLs as browsers send them, see the [URL standard](https://url.spec.whatwg.org/#url-parsing).
///
/// A backslash before the query is replaced with a slash. Characters that are not allowed in a part of the URL are
/// percent-encoded. Percent signs are kept, so that encoded URLs do not change. The vertical bar is also encoded in
/// paths: the standard allows it there, but several servers reject it. The host is percent-decoded and converted to
/// ASCII.
///
/// libcurl parses the result, so that the checked host is the host to which libcurl connects.
enum BrowserURL {
    /// The parts of a URL. Each part has a percent-encode set: the ASCII characters that are encoded in addition to
    /// control characters and non-ASCII bytes.
    private enum EncodeSet {
        case user, path, query, fragment

        func contains(_ byte: UInt8) -> Bool {
            guard (0x20...0x7e).contains(byte) else { return true }
            let characters: StaticString =
                switch self {
                case .user: " \"#<>?^`{}/:;=@[\\]|"
                case .path: " \"#<>?^`{}|"
                case .query: " \"#<>'"
                case .fragment: " \"<>`"
                }
            return characters.withUTF8Buffer { $0.contains(byte) }
        }
    }

    /// Returns the URL as browsers send it. URLs with other schemes are returned unchanged.
    static func encoded(_ text: String) throws(TransferError) -> String { try encoded(plain(Array(text.utf8))) }

    private static func encoded(_ bytes: [UInt8]) throws(TransferError) -> String {
        guard let scheme = scheme(of: bytes), URLScheme.named(scheme)?.isOfWeb == true else {
            return String(decoding: bytes, as: UTF8.self)
        }
        var start = scheme.count + 1
        while start < bytes.count, isSlash(bytes[start]) { start += 1 }
        guard start > scheme.count + 2 else { return String(decoding: bytes, as: UTF8.self) }
        let end = bytes[start...].firstIndex { isSlash($0) || $0 == question || $0 == hash } ?? bytes.endIndex
        let authority = try authority(bytes[start..<end])
        return scheme + "://" + authority + String(decoding: rest(bytes[end...]), as: UTF8.self)
    }

    /// Resolves the `Location:` of a redirect.
    /// - Parameter base: The URL of the request, as ``encoded(_:)`` has returned it.
    static func resolved(_ location: [UInt8], against base: String) throws(TransferError) -> String {
        var bytes = plain(location)
        let ofBase = scheme(of: Array(base.utf8)) ?? ""
        if let scheme = scheme(of: bytes) {
            let slashes = bytes.dropFirst(scheme.count + 1).prefix(2)
            // Browsers read `http:path` as a relative URL if the base has the same scheme.
            guard scheme == ofBase, slashes.count < 2 || !slashes.allSatisfy(isSlash) else { return try encoded(bytes) }
            bytes.removeFirst(scheme.count + 1)
        }
        if bytes.count > 1, isSlash(bytes[0]), isSlash(bytes[1]) {
            return try encoded(Array("\(ofBase):".utf8) + bytes)
        }
        let parsed = try ParsedURL(base)
        let relative = String(decoding: rest(bytes[...]), as: UTF8.self)
        try parsed.resolve(relative)
        guard let url = parsed[CURLUPART_URL] else {
            throw TransferError(code: .notAURL, detail: "not a URL: \(relative)")
        }
        return url
    }

    // MARK: Parts

    private static let question = UInt8(ascii: "?"), hash = UInt8(ascii: "#")

    private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

    /// The bytes without leading and trailing control characters and spaces, and without tabs and line ends.
    private static func plain(_ bytes: [UInt8]) -> [UInt8] {
        guard let first = bytes.firstIndex(where: { $0 > 0x20 }), let last = bytes.lastIndex(where: { $0 > 0x20 })
        else { return [] }
        return bytes[first...last].filter { $0 != 9 && $0 != 10 && $0 != 13 }
    }

    /// The scheme in lower case; nil if the text does not begin with a scheme.
    private static func scheme(of bytes: [UInt8]) -> String? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return nil }
        let scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        let isScheme =
            ("a"..."z").contains(scheme.first ?? " ")
            && scheme.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || "+-.".utf8.contains($0) }
        return isScheme ? scheme : nil
    }

    private static func authority(_ bytes: ArraySlice<UInt8>) throws(TransferError) -> String {
        var text = ""
        var place = bytes
        if let at = bytes.lastIndex(of: UInt8(ascii: "@")) {
            let user = bytes[..<at]
            let colon = user.firstIndex(of: UInt8(ascii: ":"))
            text += encoded(user[..<(colon ?? at)], .user)
            if let colon { text += ":" + encoded(user[(colon + 1)...], .user) }
            text += "@"
            place = bytes[(at + 1)...]
        }
        guard place.first != UInt8(ascii: "[") else { return text + String(decoding: place, as: UTF8.self) }
        let colon = place.lastIndex(of: UInt8(ascii: ":")) ?? place.endIndex
        return try text + HostName.ascii(decoded(place[..<colon])) + String(decoding: place[colon...], as: UTF8.self)
    }

    /// Encodes a path, a query and a fragment.
    private static func rest(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let fragment = bytes.firstIndex(of: hash) ?? bytes.endIndex
        let query = bytes[..<fragment].firstIndex(of: question) ?? fragment
        let path = bytes[..<query].map { isSlash($0) ? UInt8(ascii: "/") : $0 }
        var text = encoded(path[...], .path)
        if query < fragment { text += "?" + encoded(bytes[(query + 1)..<fragment], .query) }
        if fragment < bytes.endIndex { text += "#" + encoded(bytes[(fragment + 1)...], .fragment) }
        return Array(text.utf8)
    }

    private static func encoded(_ bytes: ArraySlice<UInt8>, _ set: EncodeSet) -> String {
        guard bytes.contains(where: set.contains) else { return String(decoding: bytes, as: UTF8.self) }
        var text: [UInt8] = []
        for byte in bytes {
            if set.contains(byte) { PercentEncoding.append(byte, to: &text) } else { text.append(byte) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] { PercentEncoding.decoded(bytes) }
}
