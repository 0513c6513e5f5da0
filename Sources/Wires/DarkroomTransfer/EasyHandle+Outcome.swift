internal import CCurl
import DarkroomFiles
import DarkroomText
import Glibc

/// The outcome of an attempt: its result for the transfer, and its sign for the host.
extension EasyHandle {
    /// The largest `Retry-After` that is used: a year, in seconds.
    private static let longestRetryAfter: curl_off_t = 365 * 24 * 3600

    /// The header line `Location:` of the last response; nil if it is missing or empty. `CURLINFO_REDIRECT_URL` is not
    /// used, because it does not resolve the URL as browsers do.
    private var location: [UInt8]? {
        var header: UnsafeMutablePointer<curl_header>?
        guard curl_easy_header(curl, "Location", 0, UInt32(CURLH_HEADER), -1, &header) == CURLHE_OK,
            let value = header?.pointee.value, value.pointee != 0
        else { return nil }
        return Array(UnsafeRawBufferPointer(start: value, count: strlen(value)))
    }

    /// The outcome of an attempt that libcurl ended with `code`.
    func outcome(_ code: CURLcode) -> Attempt.Outcome {
        darkroom_curl_easy_getinfo_long(curl, CURLINFO_RESPONSE_CODE, &status)
        isComplete = code == CURLE_OK
        if isComplete { endBody() }
        let isMultiplexed = noteVersion()
        let result = result(code)
        let end = code == CURLE_HTTP2_STREAM ? Self.end(ofStream: String(cString: errorText)) : nil
        let sign = sign(result, end)
        let isRedirect = if case .redirected = result { true } else { false }
        return Attempt.Outcome(
            result: result, sign: sign, countsForHost: sign != .silent || peer?.countsSilence(begun: started) != false,
            isMultiplexed: isMultiplexed, way: way, hasBeenPublic: hasBeenPublic,
            cookies: isRedirect ? cookies : [], spent: time(.now), hasStreamed: hasStreamed)
    }

    /// The way a server ends a stream without a response. Such a server is not silent: it may answer other requests.
    private enum StreamEnd { case byServer, forTooManyRequests }

    /// - Parameter text: libcurl's text for the error of the stream. The text for a lost connection does not match.
    private static func end(ofStream text: String) -> StreamEnd? {
        if text.contains("ENHANCE_YOUR_CALM") { return .forTooManyRequests }
        let isEnded = text.contains("was not closed cleanly: ") || text.contains("was closed cleanly, but before")
        return isEnded ? .byServer : nil
    }

    private func result(_ code: CURLcode) -> Attempt.Outcome.Result {
        if let bytes = bytesOfNextAttempt { return .cutOff(bytes: bytes, hasBody: hasRoom) }
        // The status determines the outcome even if the error page was not received completely.
        if status >= 500 {
            return .failed(TransferError(code: .httpServerError(status), detail: "HTTP status \(status)"))
        }
        if status >= 400 {
            return .failed(TransferError(code: .httpClientError(status), detail: "HTTP status \(status)"))
        }
        // The server sends a part of the photo, or a difference (RFC 3229), although no request asks for it.
        if [206, 226].contains(status), !isSuccess {
            return .failed(
                TransferError(code: .truncated, detail: "HTTP status \(status): the server sends only a part"))
        }
        guard code == CURLE_OK, !isRefusedForBody else { return .failed(failure(code)) }
        guard let attempt else { return .failed(TransferError(code: .other, detail: "no attempt")) }
        if (300..<400).contains(status), let location { return .redirected(location: location) }
        guard isSuccess else {
            return .failed(
                TransferError(code: .other, detail: "HTTP status \(status) without a body or a redirect"))
        }
        return .downloaded(
            Download(body: body, attempts: attempt.number, duration: time(.now), way: way, time: lastModified))
    }

    private func sign(_ result: Attempt.Outcome.Result, _ end: StreamEnd?) -> HostSign {
        if status >= 400, let retryAfter { return .refused(retryAfter: retryAfter) }
        if status == 429 { return .refused(retryAfter: nil) }
        if status == 503 { return .unavailable }
        guard case .failed(let error) = result, status < 400 else { return .answered(after: timeToFirstByte) }
        switch error.code {
        case .timeout, .stalled:
            // If earlier requests have used most of the time, the last host had too little time to answer.
            let hadTime = error.code == .stalled || attempt?.request.spent == .zero
            guard received > 0 || status > 0 else { return hadTime ? .silent : .none }
            return isSlow || error.code == .timeout ? .slow : .stalled
        case .connectFailed where hasNoSocket: return .none
        case .connectFailed:
            switch end {
            case .byServer: return .answered(after: .zero)
            case .forTooManyRequests: return .refused(retryAfter: nil)
            case nil: return .silent
            }
        case .addressDenied, .nameNotFound, .outOfMemory, .cancelled: return .none
        default: return .answered(after: timeToFirstByte)
        }
    }

    /// The time from the request to the first byte of the response.
    private var timeToFirstByte: Duration {
        var (sent, came): (curl_off_t, curl_off_t) = (0, 0)
        darkroom_curl_easy_getinfo_offset(curl, CURLINFO_PRETRANSFER_TIME_T, &sent)
        darkroom_curl_easy_getinfo_offset(curl, CURLINFO_STARTTRANSFER_TIME_T, &came)
        return .microseconds(max(0, came - sent))
    }

    /// The server's `Last-Modified`; nil if it is missing or not a valid time.
    private var lastModified: FileTime? {
        var seconds: curl_off_t = 0
        darkroom_curl_easy_getinfo_offset(curl, CURLINFO_FILETIME_T, &seconds)
        return seconds > 0 ? FileTime(seconds: Int(seconds)) : nil
    }

    /// The time to wait according to the server's `Retry-After`; nil if it is missing, or if its time has passed.
    private var retryAfter: Duration? {
        var seconds: curl_off_t = 0
        darkroom_curl_easy_getinfo_offset(curl, CURLINFO_RETRY_AFTER, &seconds)
        return seconds > 0 ? .seconds(min(seconds, Self.longestRetryAfter)) : nil
    }

    /// Whether the body of the response is the photo.
    var isSuccess: Bool {
        switch status {
        case 204, 205, 226: false  // no content, or no photo
        case 206: attempt.map { settings.asksForPart($0.request.hop, madeHeaders) } ?? false
        default: (200..<300).contains(status)
        }
    }

    var tooLarge: TransferError {
        TransferError(code: .tooLarge, detail: "more than \(settings.configuration.maxBytes) bytes")
    }

    private func failure(_ code: CURLcode) -> TransferError {
        // If a host has several addresses, a denied address is reported only if connecting to all other addresses
        // failed.
        let isDenied = [CURLE_COULDNT_CONNECT, CURLE_ABORTED_BY_CALLBACK].contains(code)
        if let refusal, refusal.code != .addressDenied || isDenied { return refusal }
        if let error = failureOfProxy(code) { return error }
        let found = errorText.pointee == 0 ? String(cString: curl_easy_strerror(code)) : String(cString: errorText)
        // libcurl has buffers of a fixed size for header lines. If a line is longer, versions before 8.6 report
        // CURLE_OUT_OF_MEMORY.
        let isInHeader = isConnected && received == 0
        let isTooLarge = [CURLE_OUT_OF_MEMORY, darkroom_curle_too_large()].contains(code)
        if isInHeader && isTooLarge || found.contains("Too large response headers") {
            return TransferError(
                code: .tooLarge, detail: "the response header is larger than libcurl's limit: \(found)")
        }
        return TransferError(code: Self.meaning(of: code, found, status: status), detail: found)
    }

    /// Converts libcurl's `code`. `found` is libcurl's error text. `status` is the status of the response; 0 if there
    /// is no response.
    static func meaning(of code: CURLcode, _ found: String, status: Int) -> TransferError.Code {
        switch code {
        case CURLE_URL_MALFORMAT: .notAURL
        case CURLE_COULDNT_RESOLVE_HOST: .nameNotFound
        case CURLE_COULDNT_CONNECT, CURLE_GOT_NOTHING: .connectFailed
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            (200..<300).contains(status) ? .truncated : .connectFailed
        // With HTTP/2, libcurl also reports this code if the connection was lost before the response.
        case CURLE_PARTIAL_FILE where status == 0: .connectFailed
        case CURLE_PARTIAL_FILE: .truncated
        case CURLE_OPERATION_TIMEDOUT: .timeout
        // OpenSSL reports such a text if the connection was lost during the handshake. The failure may be temporary.
        case CURLE_SSL_CONNECT_ERROR where found.contains("SYSCALL") || found.contains("reset"): .connectFailed
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            .tlsFailed
        case CURLE_FILESIZE_EXCEEDED: .tooLarge
        case CURLE_OUT_OF_MEMORY: .outOfMemory
        default: .other
        }
    }
}
