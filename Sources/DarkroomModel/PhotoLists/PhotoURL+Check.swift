extension PhotoURL {
    /// Why an entry cannot be fetched: the reason that its photo fails with, and what was found.
    package struct Problem: Sendable, Equatable {
        /// `notAURL` or `schemeDenied`.
        package let reason: FailureReason
        /// What was found; for an entry that is no URL at all the entry itself, at most 200 bytes of it.
        /// Neither names user and password nor the query.
        package let detail: String
    }

    /// What is wrong with an entry's URL, or nil when it can be fetched.
    ///
    /// It must have the form `scheme://host`, `file:///path` for files, hold no control characters, and no spaces before
    /// its path. Bytes outside ASCII and spaces in the path are fine: who
    /// fetches it percent-encodes them.
    package static func check(_ url: UnsafeRawBufferPointer) -> Problem? {
        guard !url.isEmpty else { return Problem(reason: .notAURL, detail: "the entry is empty") }
        guard let authority = authorityStart(url) else {
            var shown = redacted(String(decoding: url, as: UTF8.self))
            return Problem(reason: .notAURL, detail: shown.withUTF8 { UnsafeRawBufferPointer($0).excerpt() })
        }
        if url.contains(where: { $0 < 32 || $0 == 127 }) {
            return Problem(reason: .notAURL, detail: "the URL has control characters")
        }
        let scheme = String(decoding: url[..<(authority - 3)], as: UTF8.self).lowercased()
        switch scheme {
        case "http", "https": return checkAuthority(url, from: authority)
        case "file": return checkFile(url, from: authority)
        default:
            return Problem(reason: .schemeDenied, detail: "scheme \(scheme) is none of http, https and file")
        }
    }

    /// What is wrong with an entry's URL, or nil when it can be fetched.
    package static func check(_ url: String) -> Problem? {
        var url = url
        return url.withUTF8 { check(UnsafeRawBufferPointer($0)) }
    }

    private static func checkAuthority(_ url: UnsafeRawBufferPointer, from start: Int) -> Problem? {
        let end = url[start...].firstIndex(where: isAuthorityEnd) ?? url.count
        let host = host(url, from: start)
        guard !host.isEmpty else { return Problem(reason: .notAURL, detail: "the URL has no host") }
        // User and password may hold most characters; a host, its port and what surrounds them never these.
        if url[start..<end].contains(where: { forbiddenInAuthority.contains($0) }) {
            return Problem(
                reason: .notAURL,
                detail: "the URL has a space or another character before its path that none may have there")
        }
        let afterHost = host.baseAddress! + host.count - url.baseAddress!  // host is not empty and lies within url
        guard afterHost < end else { return nil }
        let port = String(decoding: url[afterHost + 1..<end], as: UTF8.self)
        guard url[afterHost] == Byte.colon, port.isEmpty || UInt16(port) != nil else {
            // It may be the beginning of a password with a / or ? in it.
            return Problem(
                reason: .notAURL, detail: "the URL has something else than a number up to 65535 in place of a port")
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

    private static let forbiddenInAuthority = Array(" \"<>\\^`{|}".utf8)
}
