internal import CCurl

/// The cookies of one photo.
///
/// Some servers answer the first request with a cookie and a redirect, and send the photo only if the next request has the
/// cookie. libcurl reads the cookies and decides which requests get them (RFC 6265, with the public suffix list). The
/// request after a redirect may use another handle, so the cookies are stored in ``Request``. They are never sent with
/// requests of other photos.
extension EasyHandle {
    /// The largest size of all cookies of a photo. The size is limited because many photos with cookies may wait for
    /// the next host at the same time. libcurl sends at most 8 KiB of cookies with a request.
    private static let mostCookieBytes = 16 << 10

    /// The cookies that the handle has stored, as lines in Netscape's format.
    var cookies: [String] {
        var list: UnsafeMutablePointer<curl_slist>?
        guard darkroom_curl_easy_getinfo_list(curl, CURLINFO_COOKIELIST, &list) == CURLE_OK else { return [] }
        defer { curl_slist_free_all(list) }
        var found: [String] = []
        var room = Self.mostCookieBytes
        var next = list
        while let entry = next?.pointee {
            next = entry.next
            // A cookie with bytes that are not UTF-8 is skipped.
            guard let data = entry.data, let line = String(validatingCString: data), line.utf8.count <= room else {
                continue
            }
            room -= line.utf8.count
            found.append(line)
        }
        return found
    }

    /// Removes the cookies. `curl_easy_reset` would keep them.
    func forgetCookies() { darkroom_curl_easy_setopt_string(curl, CURLOPT_COOKIELIST, "ALL") }
}
