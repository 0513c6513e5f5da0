enum RetryPolicy {
    static let longestRetryAfter = Duration.seconds(60)

    /// Whether the same request may succeed later.
    /// - Parameter hasReceived: Whether a part of the body was received. A timeout during the body is not repeated,
    ///   because the next attempt would take as long.
    static func isPassing(_ code: TransferError.Code, hasReceived: Bool = false) -> Bool {
        switch code {
        case .timeout: !hasReceived
        case .nameNotFound, .connectFailed, .stalled, .truncated, .httpServerError: true
        case .httpClientError(let status): [408, 425, 429].contains(status)
        default: false
        }
    }

    /// The pause after failed attempt number `attempt`, counted from 1. It is exponential with full jitter, so that
    /// many failed transfers do not retry at the same time, plus the server's `Retry-After`.
    static func pause(
        after attempt: Int, retryAfter: Duration?, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let ceiling = 200 * (1 << min(attempt - 1, 8))
        let jitter = Duration.milliseconds(Int.random(in: 0...ceiling, using: &generator))
        return jitter + max(.zero, min(retryAfter ?? .zero, longestRetryAfter))
    }
}
