internal import CCurl
import DarkroomTLS
import DarkroomText
import Glibc

/// Sends bytes to a URL by HTTP POST and returns the status of the response. Only one request at a time may run.
///
/// A request does not follow redirects, is not retried, and ignores proxies from the environment; certificates are
/// checked. At most 64 KiB of the response's header and at most 64 KiB of its body are read and discarded. The caller
/// must check the URL.
package final class WebPost {
    private static let maxAnswerBytes = 64 << 10

    private let headers: [String]
    private let timeout: Duration
    private let isCancelled: @Sendable () -> Bool
    private var headerBytes = 0
    private var bodyBytes = 0

    /// Creates a request.
    /// - Parameters:
    ///   - headers: header lines such as `Content-Type: application/json`.
    ///   - timeout: the time limit from the name lookup to the end of the response.
    ///   - isCancelled: called at least once per second during the request; if it returns true, the request is aborted.
    package init(headers: [String], timeout: Duration, isCancelled: @escaping @Sendable () -> Bool = { false }) {
        self.headers = headers
        self.timeout = timeout
        self.isCancelled = isCancelled
    }

    /// Sends `body` to `url`. Must not be called in a task, because it blocks the thread until the request ends, at
    /// most for the timeout. Blocks SIGPIPE on the calling thread permanently.
    /// - Returns: the status, which is at least 200. The status is also returned if the rest of the response is too
    ///   long or incomplete.
    /// - Throws: ``TransferError`` if there is no response. A further call may succeed.
    package func send(_ body: [UInt8], to url: String) throws(TransferError) -> Int {
        TransferEngine.startLibrary()
        let url = try BrowserURL.encoded(url)
        blockBrokenPipeSignal()
        guard let curl = curl_easy_init() else { throw Self.error(.outOfMemory, "no memory for a libcurl handle") }
        defer { curl_easy_cleanup(curl) }
        // By default, libcurl sends "Expect: 100-continue" before a large body and waits up to 1 s for the reply.
        let lines = (headers + ["Expect:"]).reduce(nil) { curl_slist_append($0, $1) ?? $0 }
        defer { curl_slist_free_all(lines) }
        (headerBytes, bodyBytes) = (0, 0)
        var errorText = [CChar](repeating: 0, count: Int(CURL_ERROR_SIZE))
        let code = errorText.withUnsafeMutableBufferPointer { errorText in
            body.withUnsafeBytes { bytes in
                prepare(curl, url: url, lines)
                darkroom_curl_easy_setopt_pointer(curl, CURLOPT_ERRORBUFFER, errorText.baseAddress)
                darkroom_curl_easy_setopt_offset(curl, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count))
                darkroom_curl_easy_setopt_pointer(
                    curl, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
                // The buffer for error texts is freed at the end of this closure, before libcurl frees the handle.
                defer { darkroom_curl_easy_setopt_pointer(curl, CURLOPT_ERRORBUFFER, nil) }
                return withExtendedLifetime(self) { curl_easy_perform(curl) }
            }
        }
        var status = 0
        darkroom_curl_easy_getinfo_long(curl, CURLINFO_RESPONSE_CODE, &status)
        // The status is valid even if the body is too long or incomplete.
        if status >= 200 { return status }
        if isCancelled() { throw Self.error(.cancelled, "cancelled") }
        let text = errorText.withUnsafeBufferPointer { $0.first == 0 ? nil : String(cString: $0.baseAddress!) }
        let found = text ?? String(cString: curl_easy_strerror(code))
        throw Self.error(
            code == CURLE_OK ? .other : EasyHandle.meaning(of: code, found, status: 0),
            code == CURLE_OK ? "a response without a status" : found)
    }

    private func prepare(_ curl: UnsafeMutableRawPointer, url: String, _ lines: UnsafeMutablePointer<curl_slist>?) {
        func set(_ option: CURLoption, _ value: Int) { darkroom_curl_easy_setopt_long(curl, option, value) }
        func set(_ option: CURLoption, _ value: String) { darkroom_curl_easy_setopt_string(curl, option, value) }

        set(CURLOPT_URL, url)
        set(CURLOPT_POST, 1)
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_PROXY, "")
        set(CURLOPT_PROTOCOLS_STR, URLScheme.webProtocols)
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_SSL_VERIFYPEER, 1)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        CertificateAuthorities.of(nil).apply(to: curl, resumesSessions: true)
        set(CURLOPT_TIMEOUT_MS, max(1, timeout.wholeMilliseconds))
        set(CURLOPT_QUICK_EXIT, 1)  // does not wait for a hanging name lookup
        set(CURLOPT_NOPROGRESS, 0)
        darkroom_curl_easy_setopt_list(curl, CURLOPT_HTTPHEADER, lines)
        let context = Unmanaged.passUnretained(self).toOpaque()
        darkroom_curl_easy_setopt_progress_callback(curl, CURLOPT_XFERINFOFUNCTION) { context, _, _, _, _ in
            WebPost.at(context).isCancelled() ? 1 : 0
        }
        darkroom_curl_easy_setopt_pointer(curl, CURLOPT_XFERINFODATA, context)
        darkroom_curl_easy_setopt_write_callback(curl, CURLOPT_WRITEFUNCTION) { _, size, count, context in
            let post = WebPost.at(context)
            post.bodyBytes += size * count
            return post.bodyBytes <= WebPost.maxAnswerBytes ? size * count : 0
        }
        darkroom_curl_easy_setopt_pointer(curl, CURLOPT_WRITEDATA, context)
        darkroom_curl_easy_setopt_write_callback(curl, CURLOPT_HEADERFUNCTION) { _, size, count, context in
            let post = WebPost.at(context)
            post.headerBytes += size * count
            return post.headerBytes <= WebPost.maxAnswerBytes ? size * count : 0
        }
        darkroom_curl_easy_setopt_pointer(curl, CURLOPT_HEADERDATA, context)
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> WebPost {
        Unmanaged<WebPost>.fromOpaque(context!).takeUnretainedValue()  // `prepare` set it for every callback
    }

    private static func error(_ code: TransferError.Code, _ detail: String) -> TransferError {
        TransferError(code: code, detail: detail, attempts: 1)
    }
}
