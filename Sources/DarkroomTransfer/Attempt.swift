/// One attempt to fetch the URL of a transfer from a web server.
final class Attempt: Sendable {
    struct Outcome: Sendable {
        let result: Result<Download, TransferError>
        /// The server's `Retry-After`; nil if there is none, or if its time has passed.
        var retryAfter: Duration?
        /// Whether a part of a body was received.
        var hasReceived = false
        /// Whether `onChunk` was called.
        var hasStreamed = false
    }

    let transfer: Transfer
    /// The number of the attempt, counted from 1.
    let number: Int
    let url: String
    let host: String
    let onChunk: (@Sendable (UnsafeRawBufferPointer) -> Void)?

    /// Creates an attempt to fetch `url`, the URL of `transfer` as it is sent, from `host`, its canonical host.
    init(_ transfer: Transfer, number: Int, url: String, host: String) {
        self.transfer = transfer
        self.number = number
        self.url = url
        self.host = host
        onChunk = transfer.onChunk
    }
}
