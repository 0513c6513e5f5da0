import DarkroomText

/// Removes the parts of a URL that may be secret: user, password, query and fragment. All redaction is in this file.
extension PhotoURL {
    /// Removes user, password, query and fragment from a URL. Any other text is redacted as if it were a URL.
    /// The description of an invalid entry was redacted when it was written, so only the URLs in it are redacted.
    package static func redacted(_ url: String) -> String { redacted(url, keepsQuery: false) }

    /// Removes user and password from a URL. Any other text is redacted as in ``redacted(_:)``.
    package static func withoutUser(_ url: String) -> String { redacted(url, keepsQuery: true) }

    private static func redacted(_ url: String, keepsQuery: Bool) -> String {
        let bytes = Array(url.utf8)
        if bytes.withUnsafeBytes({ authorityStart($0) }) == nil, descriptions.contains(where: { url.contains($0) }) {
            return redacting(url, keepsQuery: keepsQuery)
        }
        return String(decoding: redacted(bytes[...], keepsQuery: keepsQuery), as: UTF8.self)
    }

    /// The texts by which descriptions of invalid entries are recognized.
    private static let descriptions = [" is not JSON (", "no URL among the keys of ", " in place of a URL"]

    /// Redacts each word of a text from a list as if the word were a URL, because it may be a damaged URL. Words that
    /// begin with `#` are not redacted.
    package static func redactingWords(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var safe: [UInt8] = []
        for word in bytes.split(omittingEmptySubsequences: false, whereSeparator: isTextEnd) {
            safe += word.first == Byte.hash ? Array(word) : redacted(word)
            if word.endIndex < bytes.endIndex { safe.append(bytes[word.endIndex]) }
        }
        return String(decoding: safe, as: UTF8.self)
    }

    /// Redacts every URL in a text. URLs may have any scheme, and end at the next blank, quote or angle bracket.
    /// - Parameters:
    ///   - text: any text.
    ///   - keepsQuery: whether query and fragment are kept.
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
        // Search for bytes: a question mark with a combining accent is a different `Character`.
        var plain = Array(url.prefix { $0 != UInt8(ascii: "?") && $0 != Byte.hash })
        let query = keepsQuery ? url.dropFirst(plain.count) : []
        let start = userStart(plain)
        let end = plain[start...].firstIndex(where: isSlash) ?? plain.endIndex
        if let at = plain[start..<end].lastIndex(of: UInt8(ascii: "@")) {
            plain.removeSubrange(start...at)
        } else if let colon = misplacedPort(plain[start..<end]), isOfTheWeb(plain[..<start]) {
            // A password with an unescaped /, ? or # may follow the colon. The end of the password is unknown, so the
            // whole rest is removed.
            plain.removeSubrange(colon...)
            return plain
        }
        return plain + query
    }

    /// The colon after the host, if no port follows the colon; else nil. In prose, punctuation may follow the port.
    private static func misplacedPort(_ authority: ArraySlice<UInt8>) -> Int? {
        let host = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        guard let colon = authority[host...].firstIndex(of: Byte.colon) else { return nil }
        let rest = authority[(colon + 1)...].drop(while: Byte.isDigit)
        return rest.allSatisfy { ":.,;)'".utf8.contains($0) } ? nil : colon
    }

    /// Whether the scheme before the authority is of the web or missing.
    private static func isOfTheWeb(_ scheme: ArraySlice<UInt8>) -> Bool {
        let name = String(decoding: scheme.prefix { $0 != Byte.colon && !isSlash($0) }, as: UTF8.self)
        return name.isEmpty || URLScheme.named(name)?.isOfWeb == true
    }

    /// Removes the text up to the last `@` from the first part of an entry that is not a URL. This text may be a user
    /// and a password.
    static func redactedName(_ name: UnsafeRawBufferPointer, isFirstPart: Bool) -> UnsafeRawBufferPointer {
        guard isFirstPart, let at = name.lastIndex(of: UInt8(ascii: "@")) else { return name }
        return name.part(at + 1..<name.count)
    }

    /// The position where a user name could begin: after the scheme, its colon and any number of slashes or
    /// backslashes; without a scheme, at the first byte that is not a slash.
    private static func userStart(_ url: [UInt8]) -> Int {
        guard let colon = url.firstIndex(of: Byte.colon), url[..<colon].allSatisfy(Byte.isOfWord),
            colon + 1 < url.count, isSlash(url[colon + 1])
        else { return url.firstIndex { !isSlash($0) } ?? 0 }
        return url[(colon + 1)...].firstIndex { !isSlash($0) } ?? url.endIndex
    }

    /// The index of the colon in the first `://` that follows a character of a scheme.
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

    private static func isTextEnd(_ byte: UInt8) -> Bool {
        byte <= 32 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
    }
}
