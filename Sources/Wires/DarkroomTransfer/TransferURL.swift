internal import CCurl
import DarkroomText

/// A URL that libcurl itself has parsed. Therefore the rules check the same URL that libcurl fetches.
enum TransferURL: Equatable {
    /// An `http:` or `https:` URL as browsers send it, and its host in canonical form.
    case web(url: String, host: String)
    /// The decoded path of a `file:` URL.
    case file(path: FilePath)

    init(parsing text: String) throws(TransferError) {
        let parsed = try ParsedURL(BrowserURL.encoded(text))
        switch parsed.scheme {
        case let scheme? where scheme.isOfWeb:
            guard let url = parsed[CURLUPART_URL], let host = parsed.host else {
                throw TransferError(code: .notAURL, detail: "not a URL: no host")
            }
            self = .web(url: url, host: host)
        case let scheme? where scheme.isFile:
            // libcurl decodes only valid UTF-8 without control characters, but file names may contain other bytes.
            let path = parsed[CURLUPART_PATH].map { PercentEncoding.decoded(Array($0.utf8)) }
            guard let path, !path.contains(0) else {
                throw TransferError(code: .notAURL, detail: "not a URL: the path of a file: URL cannot be decoded")
            }
            self = .file(path: FilePath(path))
        default:
            throw TransferError(
                code: .schemeDenied,
                detail: "\(parsed[CURLUPART_SCHEME] ?? ""): URLs are not fetched, only \(URLScheme.webNames)")
        }
    }
}

/// A URL as libcurl parses it: https://curl.se/libcurl/c/libcurl-url.html
final class ParsedURL {
    private let handle: OpaquePointer

    init(_ text: String) throws(TransferError) {
        guard let handle = curl_url() else {
            throw TransferError(code: .outOfMemory, detail: "no memory to read the URL")
        }
        self.handle = handle
        let flags = CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE
        let status = curl_url_set(handle, CURLUPART_URL, text, UInt32(flags))
        guard status == CURLUE_OK, self[CURLUPART_SCHEME] != nil else {
            let reason = status == CURLUE_OK ? "no scheme" : String(cString: curl_url_strerror(status))
            throw TransferError(code: .notAURL, detail: "not a URL: \(reason)")
        }
    }

    deinit { curl_url_cleanup(handle) }

    subscript(part: CURLUPart, flags: Int32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, UInt32(flags)) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }

    /// Resolves `relative` against this URL, and replaces this URL with the result.
    func resolve(_ relative: String) throws(TransferError) {
        let flags = CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE
        let status = curl_url_set(handle, CURLUPART_URL, relative, UInt32(flags))
        guard status == CURLUE_OK else {
            throw TransferError(code: .notAURL, detail: "not a URL: \(String(cString: curl_url_strerror(status)))")
        }
    }

    /// Replaces a part with `value`, which must be encoded in the same way as `self[part]`.
    func set(_ part: CURLUPart, _ value: String?) { curl_url_set(handle, part, value, 0) }

    /// The scheme; nil if the table of schemes does not contain it.
    var scheme: URLScheme? { self[CURLUPART_SCHEME].flatMap(URLScheme.named) }

    /// The host in its canonical form; nil if it is missing.
    var host: String? { self[CURLUPART_HOST].flatMap(HostName.canonical) }

    /// The origin of the URL; nil if the URL has no host, or if its scheme has no default port and the URL has no port.
    var origin: Origin? {
        guard let scheme = self[CURLUPART_SCHEME], let host,
            let port = self[CURLUPART_PORT, CURLU_DEFAULT_PORT].flatMap({ Int($0) })
        else { return nil }
        return Origin(scheme: scheme, host: host, port: port)
    }
}
