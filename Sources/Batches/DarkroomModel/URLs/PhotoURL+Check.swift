import DarkroomText

extension PhotoURL {
    /// The reason why an entry cannot be downloaded: the failure reason of its photo, with details.
    package struct Problem: Sendable, Equatable {
        /// `notAURL`, `schemeDenied` or `fileDenied`.
        package let reason: FailureReason
        /// The details, without user, password and query. If the entry is not a URL, the details contain at most 200
        /// bytes of the entry.
        package let detail: String

        package init(reason: FailureReason, detail: String) {
            self.reason = reason
            self.detail = detail
        }
    }

    /// Checks the URL of an entry. Returns nil if the URL can be downloaded.
    ///
    /// The URL must have the form `scheme://host`, or `file:///path` for files. Control characters are not allowed;
    /// spaces and quotes are not allowed before the path. Other characters are allowed, because the download
    /// percent-encodes them as browsers do.
    package static func check(_ url: UnsafeRawBufferPointer) -> Problem? {
        guard !url.isEmpty else { return Problem(reason: .notAURL, detail: "the entry is empty") }
        guard let authority = authorityStart(url) else {
            var shown = redacted(String(decoding: url, as: UTF8.self))
            return Problem(reason: .notAURL, detail: shown.withUTF8 { UnsafeRawBufferPointer($0).excerpt() })
        }
        if url.contains(where: { $0 < 32 || $0 == 127 }) {
            return Problem(reason: .notAURL, detail: "the URL has control characters")
        }
        guard let scheme = URLScheme.of(url) else {
            let scheme = String(decoding: url[..<(authority - 3)], as: UTF8.self).lowercased()
            return Problem(reason: .schemeDenied, detail: "scheme \(scheme) is none of \(URLScheme.names)")
        }
        return scheme.isFile ? checkFile(url, from: authority) : checkAuthority(url, from: authority)
    }

    /// Checks the URL of an entry. Returns nil if the URL can be downloaded.
    package static func check(_ url: String) -> Problem? {
        var url = url
        return url.withUTF8 { check(UnsafeRawBufferPointer($0)) }
    }

    private static func checkAuthority(_ url: UnsafeRawBufferPointer, from start: Int) -> Problem? {
        let end = url[start...].firstIndex(where: isAuthorityEnd) ?? url.count
        let host = host(url, from: start)
        guard !host.isEmpty else { return Problem(reason: .notAURL, detail: "the URL has no host") }
        // User and password must not contain characters that end a URL in a text: ``redacting(_:keepsQuery:)`` would
        // show the part after such a character. In host and port, further characters are not allowed.
        let hostStart = host.baseAddress! - url.baseAddress!  // host is a non-empty part of url
        if url[start..<end].contains(where: { " \"<>".utf8.contains($0) })
            || url[hostStart..<end].contains(where: { "\\^`{|}".utf8.contains($0) })
        {
            return Problem(
                reason: .notAURL,
                detail: "the URL has a space or another invalid character before its path")
        }
        let afterHost = hostStart + host.count
        guard afterHost < end else { return nil }
        let port = String(decoding: url[afterHost + 1..<end], as: UTF8.self)
        guard url[afterHost] == Byte.colon, port.isEmpty || UInt16(port) != nil else {
            // The detail omits this text, because it may be the beginning of a password that contains a / or ?.
            return Problem(
                reason: .notAURL, detail: "the port of the URL is not a number up to 65535")
        }
        return nil
    }

    private static func checkFile(_ url: UnsafeRawBufferPointer, from start: Int) -> Problem? {
        let host = String(decoding: host(url, from: start), as: UTF8.self)
        guard host.isEmpty || host.lowercased() == "localhost" else {
            return Problem(reason: .notAURL, detail: "a file of another host (\(host)); write file:///path")
        }
        guard let path = url.offset(of: Byte.slash, from: start), path + 1 < url.count else {
            return Problem(reason: .notAURL, detail: "the URL has no path")
        }
        return nil
    }
}
