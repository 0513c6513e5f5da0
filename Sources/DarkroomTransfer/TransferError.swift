/// Why a transfer gave no body.
package struct TransferError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong.
    package enum Code: Sendable, Hashable {
        /// `Transfer.cancel()` was called, or the engine was shut down.
        case cancelled
        /// The text is no URL with a scheme and, but for `file:`, a host.
        case notAURL
        /// The URL, or one it was redirected to, is neither `http:` nor `https:` nor a file in an allowed folder.
        case schemeDenied
        /// The host, or one it was redirected to, has an address that must not be dialled.
        case addressDenied
        /// The host's name could not be resolved.
        case nameNotFound
        /// No connection could be made, or it was cut before an answer came.
        case connectFailed
        /// The TLS handshake or the check of the server's certificate failed.
        case tlsFailed
        /// Connecting or the whole transfer took too long.
        case timeout
        /// The connection stood, but nothing came for too long.
        case stalled
        /// The server answered with this status between 400 and 499.
        case httpClientError(Int)
        /// The server answered with this status, 500 or above.
        case httpServerError(Int)
        /// More redirects than allowed.
        case tooManyRedirects
        /// More bytes than allowed, by the server's word or by count.
        case tooLarge
        /// The connection ended before the body was whole.
        case truncated
        /// There is no such file, or it is not a readable regular file.
        case fileNotFound
        /// No memory for the transfer.
        case outOfMemory
        /// The bytes came, but whoever was to keep them could not; `isFull` when there was no room. No engine says so.
        case cannotKeep(isFull: Bool)
        /// Anything else; the detail says what.
        case other
    }

    /// What went wrong.
    package let code: Code
    /// What was found, for people; names no credentials and no query of the URL.
    package let detail: String
    /// How many times it was tried; 0 when the transfer was refused or ended before the first.
    package let attempts: Int

    /// Makes the error `code` that ended the transfer after `attempts`.
    package init(code: Code, detail: String, attempts: Int) {
        self.code = code
        self.detail = detail
        self.attempts = attempts
    }

    /// The detail and, where it was tried again, how many times.
    package var description: String {
        attempts > 1 ? "\(detail) (tried \(attempts) times)" : detail
    }
}
