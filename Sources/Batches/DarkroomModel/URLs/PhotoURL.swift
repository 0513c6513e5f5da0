import DarkroomText

/// Functions for the URLs of list entries: the name in a URL, and whether the URL can be downloaded.
@usableFromInline package enum PhotoURL {}

extension PhotoURL {
    /// Memory that `withName` reuses in later calls.
    @usableFromInline package struct Scratch {
        @usableFromInline var bytes: [UInt8] = []

        package init() {}
    }

    /// Calls `body` with the name in a URL: the last component of its path, percent-decoded, without query. If the
    /// component is empty, the name is the host.
    ///
    /// Text that is not a URL is treated as a path. If the name contains no percent sign, no bytes are copied.
    @inlinable package static func withName<Result>(
        of url: UnsafeRawBufferPointer, _ scratch: inout Scratch, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        guard let name = plainName(of: url, &scratch) else { return scratch.bytes.withUnsafeBytes(body) }
        return body(name)
    }

    /// The name in a URL as a part of the URL; nil if the name was decoded into `scratch`.
    @usableFromInline static func plainName(
        of url: UnsafeRawBufferPointer, _ scratch: inout Scratch
    ) -> UnsafeRawBufferPointer? {
        let end = min(url.offset(of: UInt8(ascii: "?")) ?? url.count, url.offset(of: Byte.hash) ?? url.count)
        let authority = authorityStart(url) ?? 0
        var start = end
        var isEncoded = false
        // In a URL, a backslash in the path counts as a slash, unless the scheme is known and not of the web.
        let hasBackslashes = authority > 0 && URLScheme.of(url)?.isOfWeb ?? true
        while start > authority, url[start - 1] != Byte.slash, !hasBackslashes || url[start - 1] != Byte.backslash {
            start -= 1
            if url[start] == Byte.percent { isEncoded = true }
        }
        if start >= end || (authority > 0 && start <= authority) { return host(url, from: authority) }
        // In an entry that is not a URL, the first component may be meant as a host with user and password.
        let isFirst = authority == 0 && url[..<start].allSatisfy { $0 == Byte.slash }
        let name = redactedName(url.part(start..<end), isFirstPart: isFirst)
        guard isEncoded else { return name }
        decode(name, into: &scratch.bytes)
        return nil
    }

    /// Returns the name in a URL as text.
    package static func name(of url: String) -> String {
        var url = url
        var scratch = Scratch()
        return url.withUTF8 { bytes in
            withName(of: UnsafeRawBufferPointer(bytes), &scratch) { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// The `file:` URL of an absolute path. The path need not be valid UTF-8.
    package static func file(path: [UInt8]) -> [UInt8] {
        encoded(path: path, after: fileStart)
    }

    /// Returns `start`, followed by a path in the form that it has in a `file:` URL.
    package static func encoded(path: [UInt8], after start: [UInt8]) -> [UInt8] {
        var text = start
        for byte in path {
            if Byte.isAlphanumeric(byte) || "/-._~".utf8.contains(byte) {
                text.append(byte)
            } else {
                PercentEncoding.append(byte, to: &text)
            }
        }
        return text
    }

    /// The path of a URL that ``file(path:)`` has returned.
    package static func path(ofFile url: some Collection<UInt8>) -> [UInt8] {
        PercentEncoding.decoded(url.dropFirst(fileStart.count))
    }

    private static let fileStart = Array("file://".utf8)

    /// The index after `scheme://`, where the authority begins; nil if the text does not begin with a scheme. In URLs
    /// of the web, backslashes are slashes, as in browsers.
    package static func authorityStart(_ url: UnsafeRawBufferPointer) -> Int? {
        guard let colon = url.offset(of: Byte.colon), colon > 0, colon + 2 < url.count,
            isSlash(url[colon + 1]), isSlash(url[colon + 2]), Byte.isLetter(url[0]),
            url[1..<colon].allSatisfy(Byte.isOfWord)
        else { return nil }
        guard url[colon + 1] == Byte.backslash || url[colon + 2] == Byte.backslash else { return colon + 3 }
        return URLScheme.of(url)?.isOfWeb == true ? colon + 3 : nil
    }

    /// The host of the authority that begins at `start`, without user, password and port; empty if there is none.
    static func host(_ url: UnsafeRawBufferPointer, from start: Int) -> UnsafeRawBufferPointer {
        guard start > 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        var end = start
        while end < url.count, !isAuthorityEnd(url[end]) { end += 1 }
        var authority = url.part(start..<end)
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority.part(at + 1..<authority.count) }
        if authority.first == UInt8(ascii: "["), let bracket = authority.offset(of: UInt8(ascii: "]")) {
            return authority.part(0..<bracket + 1)  // IPv6
        }
        return authority.part(0..<(authority.offset(of: Byte.colon) ?? authority.count))
    }

    static func isAuthorityEnd(_ byte: UInt8) -> Bool {
        isSlash(byte) || byte == UInt8(ascii: "?") || byte == Byte.hash
    }

    static func isSlash(_ byte: UInt8) -> Bool { byte == Byte.slash || byte == Byte.backslash }

    private static func decode(_ text: UnsafeRawBufferPointer, into bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        var position = 0
        while position < text.count {
            if text[position] == Byte.percent, position + 2 < text.count, let high = Byte.hexValue(text[position + 1]),
                let low = Byte.hexValue(text[position + 2])
            {
                bytes.append(high << 4 | low)
                position += 3
            } else {
                bytes.append(text[position])
                position += 1
            }
        }
    }
}
