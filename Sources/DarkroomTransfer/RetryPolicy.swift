/// When a failed attempt is worth another, and after what pause.
enum RetryPolicy {
    /// The longest pause that a server's `Retry-After` is granted.
    static let longestRetryAfter = Duration.seconds(60)

    /// Whether the same request may succeed a moment later.
    /// - Parameter hasReceived: a part of the body came. What takes too long then takes as long once more.
    static func isPassing(_ code: TransferError.Code, hasReceived: Bool = false) -> Bool {
        switch code {
        case .timeout: !hasReceived
        case .nameNotFound, .connectFailed, .stalled, .truncated, .httpServerError: true
        case .httpClientError(let status): [408, 425, 429].contains(status)
        default: false
        }
    }

    /// The pause after the failed attempt number `attempt`, counted from 1: exponential with full jitter, so that many that failed
    /// together do not come back together, on top of what the server asked for.
    static func pause(
        after attempt: Int, retryAfter: Duration?, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let ceiling = 200 * (1 << min(attempt - 1, 8))
        let jitter = Duration.milliseconds(Int.random(in: 0...ceiling, using: &generator))
        return jitter + max(.zero, min(retryAfter ?? .zero, longestRetryAfter))
    }
}
