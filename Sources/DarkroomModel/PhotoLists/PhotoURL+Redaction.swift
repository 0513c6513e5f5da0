/// Removes the parts of a URL that may be secret: user, password, query and fragment. All redaction is in this file.
extension PhotoURL {
    /// A URL without user, password, query and fragment. Text that is no URL is treated like a URL.
    package static func redacted(_ url: String) -> String {
        String(decoding: redacted(Array(url.utf8)[...]), as: UTF8.self)
    }

    /// A URL without user and password. Text that is no URL is treated like a URL.
    package static func withoutUser(_ url: String) -> String {
        String(decoding: redacted(Array(url.utf8)[...], keepsQuery: true), as: UTF8.self)
    }

    /// A text in which every URL (of any scheme, up to the next blank, quote or angle bracket) is redacted.
    /// - Parameters:
    ///   - text: any text.
    ///   - keepsQuery: true to keep query and fragment.
    package static func redacting(_ text: String, keepsQuery: Bool = false) -> String {
        let bytes = Array(text.utf8)
        guard let first = marker(in: bytes[...]) else { return text }
        var safe: [UInt8] = []
        safe.reserveCapacity(bytes.count)
        var rest = bytes[...]
        var next: Int? = first
        while let colon = next {
            let before = bytes[rest.startIndex..<colon].lastIndex { !Byte.isOfWord($0) }
            let scheme = before.map { $0 + 1 } ?? rest.startIndex
            let end = bytes[colon...].firstIndex(where: isTextEnd) ?? bytes.endIndex
            safe += bytes[rest.startIndex..<scheme]
            safe += redacted(bytes[scheme..<end], keepsQuery: keepsQuery)
            rest = bytes[end...]
            next = marker(in: rest)
        }
        return String(decoding: safe + rest, as: UTF8.self)
    }

    private static func redacted(_ url: ArraySlice<UInt8>, keepsQuery: Bool = false) -> [UInt8] {
        // Compares bytes: a question mark with a combining accent is another `Character`.
        var plain = Array(url.prefix { $0 != UInt8(ascii: "?") && $0 != Byte.hash })
        let query = keepsQuery ? url.dropFirst(plain.count) : []
        let start = userStart(plain)
        let end = plain[start...].firstIndex(where: isSlash) ?? plain.endIndex
        if let at = plain[start..<end].lastIndex(of: UInt8(ascii: "@")) {
            plain.removeSubrange(start...at)
        } else if let colon = misplacedPort(plain[start..<end]), isOfTheWeb(plain[..<start]) {
            // The end of a password with an unescaped /, ? or # is unknown.
            plain.removeSubrange(colon...)
            return plain
        }
        return plain + query
    }

    /// The colon after a host if no port follows: in a text, punctuation may follow the URL.
    private static func misplacedPort(_ authority: ArraySlice<UInt8>) -> Int? {
        let host = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        guard let colon = authority[host...].firstIndex(of: Byte.colon) else { return nil }
        let rest = authority[(colon + 1)...].drop(while: Byte.isDigit)
        return rest.allSatisfy { ":.,;)'".utf8.contains($0) } ? nil : colon
    }

    /// Whether the scheme before the authority is `http` or `https`, or missing.
    private static func isOfTheWeb(_ scheme: ArraySlice<UInt8>) -> Bool {
        let name = String(decoding: scheme.prefix { $0 != Byte.colon && !isSlash($0) }, as: UTF8.self).lowercased()
        return ["", "http", "https"].contains(name)
    }

    /// The name from an entry that is no URL, without the parts that would be user and password of a URL.
    static func redactedName(_ name: UnsafeRawBufferPointer, isFirstPart: Bool) -> UnsafeRawBufferPointer {
        guard isFirstPart, let at = name.lastIndex(of: UInt8(ascii: "@")) else { return name }
        return name.part(at + 1..<name.count)
    }

    /// The position of a possible user: after scheme, colon and slashes (any number, also backslashes), otherwise the start.
    private static func userStart(_ url: [UInt8]) -> Int {
        guard let colon = url.firstIndex(of: Byte.colon), url[..<colon].allSatisfy(Byte.isOfWord),
            colon + 1 < url.count, isSlash(url[colon + 1])
        else { return url.firstIndex { !isSlash($0) } ?? 0 }
        return url[(colon + 1)...].firstIndex { !isSlash($0) } ?? url.endIndex
    }

    /// The colon of the first `://` after a possible scheme.
    private static func marker(in text: ArraySlice<UInt8>) -> Int? {
        var from = text.startIndex
        while let colon = text[from...].firstIndex(of: Byte.colon) {
            if colon > text.startIndex, Byte.isOfWord(text[colon - 1]), colon + 2 < text.endIndex,
                text[colon + 1] == Byte.slash, text[colon + 2] == Byte.slash
            {
                return colon
            }
            from = colon + 1
        }
        return nil
    }

    private static func isSlash(_ byte: UInt8) -> Bool { byte == Byte.slash || byte == UInt8(ascii: "\\") }

    private static func isTextEnd(_ byte: UInt8) -> Bool {
        byte <= 32 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
    }
}
