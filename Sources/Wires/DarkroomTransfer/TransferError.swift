package struct TransferError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// `Transfer.cancel()` was called, or the engine was shut down.
        case cancelled
        /// The text is not a URL with a scheme and (except for `file:`) a host.
        case notAURL
        /// The URL is not an `http:`, `https:` or `file:` URL, or the target of a redirect is not an `http:` or
        /// `https:` URL.
        case schemeDenied
        /// The host, or the host of a redirect, is denied or has a denied address.
        case addressDenied
        /// The host name could not be resolved.
        case nameNotFound
        /// No connection could be established, or the connection was lost before the response.
        case connectFailed
        /// The TLS handshake or the check of the server's certificate failed.
        case tlsFailed
        /// Connecting or the whole transfer took too long.
        case timeout
        /// The connected server sent nothing for too long, or sent too slowly.
        case stalled
        /// The server responded with this status between 400 and 499.
        case httpClientError(Int)
        /// The server responded with this status, 500 or above.
        case httpServerError(Int)
        /// The host did not answer for longer than the patience.
        case hostUnreachable
        /// The host refused all requests for longer than the patience, or asked for a longer pause.
        case hostRefuses
        /// The host sent several bodies too slowly.
        case hostTooSlow
        /// The response opts out of the use of the photo, see ``OptOut``.
        case optedOut
        case tooManyRedirects
        /// The body is too large: its Content-Length, the received bytes, or the decoded body exceeds the limit.
        case tooLarge
        /// The connection or the compressed data ended before the body was complete, or the server sent only a part of
        /// the body.
        case truncated
        /// The body does not have the content coding that its header names, or it has too many codings.
        case damagedCoding
        /// The file is outside the folders that may be read.
        case fileDenied
        /// The file does not exist, or it is not a readable regular file.
        case fileNotFound
        case outOfMemory
        /// The bytes were received but could not be stored. `isFull` is true if no space was left. Callers of the
        /// engine use this code; the engine itself does not.
        case cannotKeep(isFull: Bool)
        case other
    }

    package let code: Code
    /// A description for people. It excludes credentials and the query of the URL.
    package let detail: String
    /// The number of attempts; 0 if the transfer was rejected or ended before the first attempt.
    package let attempts: Int

    package init(code: Code, detail: String, attempts: Int = 0) {
        self.code = code
        self.detail = detail
        self.attempts = attempts
    }

    package static let cancelled = TransferError(code: .cancelled, detail: "cancelled")

    package var description: String { attempts > 1 ? "\(detail) (tried \(attempts) times)" : detail }
}
