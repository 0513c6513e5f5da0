internal import CCurl

/// The cookies of one photo.
///
/// Some servers answer the first request with a cookie and a redirect, and send the photo only if the next request has the
/// cookie. libcurl reads the cookies and decides which requests get them (RFC 6265, with the public suffix list). Each
/// redirect may use another handle, so the cookies travel with the request. They are never sent with other photos.
extension EasyHandle {
    /// The largest size of all cookies of a photo, which may wait for its turn at the next host with many others. libcurl
    /// sends at most 8 KiB of them with a request.
    private static let mostCookieBytes = 16 << 10

    /// The cookies that the handle has, as lines of Netscape's format.
    var cookies: [String] {
        var list: UnsafeMutablePointer<curl_slist>?
        guard darkroom_curl_easy_getinfo_list(curl, CURLINFO_COOKIELIST, &list) == CURLE_OK else { return [] }
        defer { curl_slist_free_all(list) }
        var found: [String] = []
        var room = Self.mostCookieBytes
        var next = list
        while let entry = next?.pointee {
            next = entry.next
            // A value may have bytes that are not UTF-8.
            guard let data = entry.data, let line = String(validatingCString: data), line.utf8.count <= room else {
                continue
            }
            room -= line.utf8.count
            found.append(line)
        }
        return found
    }

    /// `curl_easy_reset` keeps the cookies.
    func forgetCookies() { darkroom_curl_easy_setopt_string(curl, CURLOPT_COOKIELIST, "ALL") }
}
