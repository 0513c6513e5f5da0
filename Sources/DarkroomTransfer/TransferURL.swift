internal import CCurl

/// A URL taken apart by libcurl itself, so that what is checked is what is fetched.
enum TransferURL: Equatable {
    /// An `http:` or `https:` URL, blanks and non-ASCII bytes percent-encoded, and its host in small letters.
    case web(url: String, host: String)
    /// The decoded path of a `file:` URL.
    case file(path: String)

    init(parsing text: String) throws(Refusal) {
        guard let parsed = curl_url() else { throw Refusal(code: .outOfMemory, detail: "no memory to read the URL") }
        defer { curl_url_cleanup(parsed) }
        let flags = CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE
        let status = curl_url_set(parsed, CURLUPART_URL, text, UInt32(flags))
        guard status == CURLUE_OK, let scheme = Self.part(CURLUPART_SCHEME, of: parsed) else {
            let reason = status == CURLUE_OK ? "no scheme" : String(cString: curl_url_strerror(status))
            throw Refusal(code: .notAURL, detail: "not a URL: \(reason)")
        }
        switch scheme {
        case "http", "https":
            guard let url = Self.part(CURLUPART_URL, of: parsed), let host = Self.part(CURLUPART_HOST, of: parsed),
                !host.isEmpty
            else { throw Refusal(code: .notAURL, detail: "not a URL: no host") }
            self = .web(url: url, host: host.lowercased())
        case "file":
            guard let path = Self.part(CURLUPART_PATH, of: parsed, flags: CURLU_URLDECODE) else {
                throw Refusal(code: .notAURL, detail: "not a URL: the path of a file: URL cannot be decoded")
            }
            self = .file(path: path)
        default:
            throw Refusal(code: .schemeDenied, detail: "\(scheme): URLs are not fetched, only http: and https:")
        }
    }

    private static func part(_ part: CURLUPart, of url: OpaquePointer, flags: Int32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, part, &text, UInt32(flags)) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}

/// Why something was not done, before it is known after how many attempts.
struct Refusal: Error, Equatable {
    let code: TransferError.Code
    let detail: String
}
